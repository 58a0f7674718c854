// The records of view rows, derived from their base rows as these are now. For views that are in other shards
// than their base tables (view_row.h).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "execute/view_row.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

struct DerivedRow {
  ViewRow row;
  schema::TablePtr view, table;  // its base table
};

struct ViewRecords {
  std::vector<std::optional<base::Bytes>> values;  // value of each row; nullopt: it is not in the view
  // A base row has a column that its table does not know: a newer schema is needed, and there are no values.
  bool needs_newer_schema = false;
};

// Each value is derived from its base row as it was at some moment during the call. REQUIRES: the row's keys
// are of `view` and `table`.
base::Result<ViewRecords> view_records(const storage::Store& store, std::span<const DerivedRow> rows);

}  // namespace sibyl::execute
