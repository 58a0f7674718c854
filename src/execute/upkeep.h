// Indexes and views kept with the rows they are made of: what a write set changes in its base tables, and the
// operations that follow from it, committed with it as one. Private to this room and the engine's builder.
//
// Everything here is a function of what is stored, never of the time: rows are compared with all that has not
// been deleted, expired or not. So entries and view rows do not depend on when a write came, on its
// timestamp, or on a clock that goes back; what has expired is left out by whoever reads them.
#pragma once

#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

class Interrupt;  // environment.h

using base::Bytes;
using base::BytesView;

// One row of a base table, before and after a write set. The fragments hold what no deletion covers: the
// marker and cells, also expired ones (Marker::is_live, Cell::is_live say when they end); no tombstones, no
// cells of dropped columns. A row that does not exist is an empty fragment; at least one of the two exists.
// `original_clustering` is that of the record. Views live until the function that is given it returns.
struct RowChange {
  const schema::Table& table;
  BytesView partition_key;  // serialised
  BytesView clustering;     // as in the record's key; empty for the static row
  bool is_static = false;
  const row::Fragment& before;
  const row::Fragment& after;
};

// Whether there is a row, perhaps an expired one.
inline bool exists(const row::Fragment& row) {
  return row.marker.exists() || !row.cells.empty();
}

// Add what follows for one index or view: whole records by put(), those that are no more by erase(). Static
// rows are given to indexes only. `before` empty and `after` not is also how existing data is built from.
base::Status write_index_change(const schema::Index& index, const RowChange& change,
                                storage::WriteSet& writes);
// A row whose key in the view would be longer than a key can be is not in the view. When the change gives it
// that key: the size of it, for the caller to refuse or to tell of; else 0.
base::Result<size_t> write_view_change(const schema::TablePtr& view, const RowChange& change,
                                       storage::WriteSet& writes);

// How much of that one write may bring along: it is built in memory, and committed whole. Deleting a
// partition of millions of rows has an entry for each of them.
inline constexpr size_t max_upkeep_bytes = 256u << 20;

// Adds to `writes` what its merges into `tables` mean for their indexes and views; other tables' records are
// left alone. Refuses more than `most_bytes`. Asks `interrupt`, which may be nullptr, while it goes over
// rows. REQUIRES: the partitions are locked, from before they were read until the commit.
base::Status add_upkeep(std::span<const schema::Table* const> tables, const storage::Store& store,
                        storage::WriteSet& writes, const Interrupt* interrupt = nullptr,
                        size_t most_bytes = max_upkeep_bytes);

// Adds erasing all records of the table, its indexes and its views.
void erase_all(const schema::Table& table, storage::WriteSet& writes);

}  // namespace sibyl::execute
