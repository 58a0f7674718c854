// A view row is a copy of the base row's selected cells under another key, replaced whole. Its marker
// determines how long the row lives. If a base cell is part of the view's key, the row lives as long as that
// cell. Otherwise it lives as long as anything of the base row. Readers of views check only the marker
// (reader.cc).
#include "execute/index/view_change.h"

#include <algorithm>

#include "execute/index/maintenance.h"
#include "execute/index/view_plan.h"
#include "row/merge.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

using row::Fragment;

const row::Cell* find_cell(const Fragment& row, uint32_t column) {
  const auto found = std::lower_bound(row.cells.begin(), row.cells.end(), column,
                                      [](const row::Cell& cell, uint32_t id) { return cell.column < id; });
  return found != row.cells.end() && found->column == column ? &*found : nullptr;
}

row::Marker marker_of(const row::Cell& cell) {
  const bool expires = cell.kind == row::CellKind::expiring;
  return {cell.timestamp, expires ? cell.time_to_live : 0, expires ? cell.expires_seconds : 0};
}

// Returns the marker that lives longer.
const row::Marker& longer(const row::Marker& left, const row::Marker& right) {
  if (!left.exists() || !right.exists()) return left.exists() ? left : right;
  const bool left_expires = left.time_to_live != 0;
  const bool right_expires = right.time_to_live != 0;
  if (left_expires != right_expires) return left_expires ? right : left;
  if (left_expires && left.expires_seconds != right.expires_seconds)
    return left.expires_seconds > right.expires_seconds ? left : right;
  return row::reconcile(left, right);
}

row::Marker life_of(const ViewPlan& plan, const Fragment& row) {
  if (plan.key_cell()) return marker_of(*find_cell(row, *plan.key_cell()));
  row::Marker life = row.marker;
  for (const row::Cell& cell : row.cells) life = longer(life, marker_of(cell));
  return life;
}

// The values of a base row's key.
struct BaseKey {
  std::vector<Bytes> partition, clustering;
};

// The view's record for a base row.
struct ViewRecord {
  Bytes key;       // empty: no record
  Bytes original;  // serialised clustering key, if lossy
  Bytes too_long;  // the row's partition key, if it is too long for a record
};

class ViewWriter {
 public:
  ViewWriter(const schema::TablePtr& view, const RowChange& change)
      : view_(*view), change_(change), plan_(view_plan_of(view, change.table)) {}

  base::Result<size_t> write(storage::WriteSet& writes) {
    SIBYL_ASSIGN(base_.partition,
                 types::split_partition_key(change_.partition_key, change_.table.partition_key_count));
    SIBYL_TRY(read_clustering(change_.after));
    if (!has_whole_key() ||
        !plan_.matches(change_.partition_key, change_.clustering, base_.partition, base_.clustering))
      return 0;
    ViewRecord after = record_of(change_.after);
    // The row may have changed to values that have the same key bytes.
    if (change_.before.original_clustering != change_.after.original_clustering)
      SIBYL_TRY(read_clustering(change_.before));
    ViewRecord before = record_of(change_.before);
    if (!before.key.empty() && before.key != after.key) writes.erase(std::move(before.key));
    if (!after.key.empty()) writes.put(std::move(after.key), encoded(after.original));
    return after.too_long == before.too_long ? 0 : after.too_long.size();
  }

 private:
  base::Status read_clustering(const Fragment& row) {
    SIBYL_ASSIGN(base_.clustering,
                 plan::clustering_values(change_.table, change_.clustering, row.original_clustering));
    return {};
  }

  // The last clustering columns of a compact table's row may be null. The columns of a view's key may not.
  bool has_whole_key() const { return base_.clustering.size() == change_.table.clustering_count; }

  ViewRecord record_of(const Fragment& row) {
    ViewRecord record;
    if (!exists(row) || !has_whole_key()) return record;
    values_.clear();
    for (const ViewPlan::Source& source : plan_.key_sources()) {
      switch (source.from) {
        case ViewPlan::Source::From::partition_key:
          values_.emplace_back(base_.partition[source.index]);
          break;
        case ViewPlan::Source::From::clustering:
          values_.emplace_back(base_.clustering[source.index]);
          break;
        case ViewPlan::Source::From::cell:
          const row::Cell* cell = find_cell(row, source.index);
          if (cell == nullptr) return record;
          values_.emplace_back(cell->value);
          break;
      }
    }
    return place();
  }

  // Builds the record for values_, the view's key.
  ViewRecord place() {
    ViewRecord record;
    const std::span<const BytesView> values = values_;
    const size_t parts = view_.partition_key_count;
    Bytes partition_key =
        types::serialise_partition_key(std::vector<BytesView>(values.begin(), values.begin() + parts));
    if (partition_key.size() > plan::max_key_size) {
      record.too_long = std::move(partition_key);
      return record;
    }
    const Bytes clustering = plan::clustering_of(view_, values.subspan(parts));
    record.original = plan::original_clustering_of(view_, values.subspan(parts), clustering);
    record.key = row::row_record_key(row::partition_prefix(view_.storage_id, partition_key), clustering);
    return record;
  }

  Bytes encoded(BytesView original_clustering) {
    const Fragment& row = change_.after;
    Fragment fragment;
    fragment.marker = life_of(plan_, row);
    fragment.original_clustering = original_clustering;
    fragment.cells.reserve(row.cells.size());
    for (const row::Cell& cell : row.cells)
      if (plan_.selects(cell.column)) fragment.cells.push_back(cell);
    Bytes bytes;
    row::encode(fragment, bytes);
    return bytes;
  }

  const schema::Table& view_;
  const RowChange& change_;
  const ViewPlan& plan_;
  BaseKey base_;
  std::vector<BytesView> values_;
};

}  // namespace

base::Result<size_t> write_view_change(const schema::TablePtr& view, const RowChange& change,
                                       storage::WriteSet& writes) {
  return ViewWriter(view, change).write(writes);
}

}  // namespace sibyl::execute
