// Rows of views that are in other shards than their base rows, so that a write cannot contain them.
#pragma once

#include <vector>

#include "base/bytes.h"

namespace sibyl::execute {

// A view row that a write to its base row affects. It names both and has no values: they are derived from the
// base row when the view row is written (index/view_records.h), so it does not matter how often or how late
// that happens.
struct ViewRow {
  base::Bytes key;       // key of the view row's record
  base::Bytes base_key;  // key of the base row's record
};

struct ViewRows {
  std::vector<ViewRow> rows;
  // Rows whose view key is too long are left out of the view. Otherwise the write is refused.
  bool leaves_out_long_keys = false;
};

}  // namespace sibyl::execute
