// A row of a base table before and after a write. Indexes, views and vector graphs are maintained from it.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "row/fragment.h"
#include "schema/schema.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// One row of a base table, before and after a write set. The fragments hold the marker and cells that no
// deletion covers, including expired ones (see Marker::is_live, Cell::is_live). They hold no tombstones and
// no cells of dropped columns. A row that does not exist is an empty fragment; at least one of the two rows
// exists. `original_clustering` is taken from the record. Views are valid until the function that receives
// the change returns.
struct RowChange {
  const schema::Table& table;
  BytesView partition_key;  // serialised
  BytesView clustering;     // the bytes of the record's key; empty for the static row
  bool is_static = false;
  const row::Fragment& before;
  const row::Fragment& after;
};

// Returns true if there is a row, even an expired one.
inline bool exists(const row::Fragment& row) {
  return row.marker.exists() || !row.cells.empty();
}

// Cells of dropped columns remain in the records. No reader may see them, and a row that has only such cells
// does not exist.
inline void remove_dropped_cells(const schema::Table& table, row::Fragment& fragment) {
  if (table.dropped_columns.empty()) return;
  std::erase_if(fragment.cells,
                [&](const row::Cell& cell) { return table.find_by_id(cell.column) == nullptr; });
}

}  // namespace sibyl::execute
