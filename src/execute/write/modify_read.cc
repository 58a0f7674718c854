#include "execute/write/modify_read.h"

#include <algorithm>

#include "execute/corrupt.h"
#include "execute/row_change.h"
#include "plan/evaluation/intervals.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

int64_t latest_of(const row::Fragment& fragment) {
  int64_t latest = std::max(fragment.marker.timestamp, fragment.deletion.timestamp);
  for (const row::ColumnDeletion& one : fragment.column_deletions)
    latest = std::max(latest, one.deletion.timestamp);
  for (const row::Cell& cell : fragment.cells) latest = std::max(latest, cell.timestamp);
  return latest;
}

}  // namespace

base::Result<bool> ReadBefore::read(BytesView key, Record& record) {
  // All records are held until the request completes.
  constexpr size_t max_held = 256u << 20;
  SIBYL_ASSIGN(const bool exists, get(key, record.bytes));
  if (!exists) return false;
  held_bytes_ += record.bytes.size();
  if (held_bytes_ > max_held && held_bytes_ > record.bytes.size())
    return base::invalid("The existing rows that this write must read first are too large together");
  if (!row::decode(record.bytes, record.fragment)) return base::fail(corrupt_record());
  record.latest = latest_of(record.fragment);
  return true;
}

// Removes everything that readers do not see.
void ReadBefore::hide(row::Fragment& fragment, const row::Deletion& covering) const {
  row::visible_at(fragment, covering, now_seconds_);
  if (table_ != nullptr) remove_dropped_cells(*table_, fragment);
}

base::Result<ReadBefore::Partition*> ReadBefore::partition(BytesView partition_prefix) {
  auto [found, is_new] = partitions_.try_emplace(Bytes(partition_prefix));
  if (!is_new) return found->second.get();
  found->second = std::make_unique<Partition>();
  Partition& partition = *found->second;
  Record& record = partition.statics;
  SIBYL_ASSIGN(const bool exists, read(row::partition_record_key(partition_prefix), record));
  if (!exists) return &partition;
  partition.deletion = record.fragment.deletion;
  partition.has_range_deletions = record.fragment.has_range_deletions;
  hide(record.fragment, {});
  return &partition;
}

base::Status ReadBefore::load_ranges(BytesView partition_prefix, RangeDeletions& ranges) {
  Bytes begin(partition_prefix), end(partition_prefix);
  begin.push_back(static_cast<char>(row::RecordKind::range_deletion));
  end.push_back(static_cast<char>(row::RecordKind::row));
  const std::unique_ptr<storage::Iterator> records = iterate(begin, end);
  row::Fragment fragment;
  for (records->seek_to_first(); records->valid(); records->next()) {
    row::RecordKey key;
    Bytes range_begin;
    std::optional<Bytes> range_end;
    if (!row::parse_record_key(records->key(), key) ||
        !row::decode_range_bounds(key.rest, range_begin, range_end) ||
        !row::decode(records->value(), fragment))
      return base::fail(corrupt_record());
    ranges.add(std::move(range_begin), std::move(range_end), fragment.deletion);
  }
  SIBYL_TRY(records->status());
  ranges.finish();
  return {};
}

// Range deletions are read once per partition, because a batch may read many of its rows.
base::Result<row::Deletion> ReadBefore::covering(BytesView partition_prefix, Partition& partition,
                                                 BytesView clustering) {
  if (!partition.has_range_deletions) return partition.deletion;
  if (!partition.has_loaded_ranges) SIBYL_TRY(load_ranges(partition_prefix, partition.ranges));
  partition.has_loaded_ranges = true;
  const row::Deletion range = partition.ranges.covering(clustering);
  return range.timestamp > partition.deletion.timestamp ? range : partition.deletion;
}

base::Result<const row::Fragment*> ReadBefore::row(BytesView partition_prefix, BytesView clustering) {
  const Bytes key = row::row_record_key(partition_prefix, clustering);
  auto [found, is_new] = rows_.try_emplace(key);
  if (!is_new) return &found->second->fragment;
  found->second = std::make_unique<Record>();
  Record& record = *found->second;
  SIBYL_ASSIGN(const bool exists, read(key, record));
  if (!exists) return &record.fragment;
  SIBYL_ASSIGN(Partition * found_partition, partition(partition_prefix));
  SIBYL_ASSIGN(const row::Deletion deletion, covering(partition_prefix, *found_partition, clustering));
  hide(record.fragment, deletion);
  return &record.fragment;
}

base::Result<const row::Fragment*> ReadBefore::static_row(BytesView partition_prefix) {
  SIBYL_ASSIGN(Partition * found, partition(partition_prefix));
  return &found->statics.fragment;
}

base::Result<int64_t> ReadBefore::latest_of_statics(BytesView partition_prefix) {
  SIBYL_ASSIGN(const Partition* found, partition(partition_prefix));
  return found->statics.latest;
}

base::Result<int64_t> ReadBefore::latest_of_row(BytesView partition_prefix, BytesView clustering) {
  SIBYL_ASSIGN(Partition * found, partition(partition_prefix));
  SIBYL_TRY(row(partition_prefix, clustering));
  const int64_t latest = rows_.at(row::row_record_key(partition_prefix, clustering))->latest;
  SIBYL_ASSIGN(const row::Deletion deletion, covering(partition_prefix, *found, clustering));
  return std::max(latest, deletion.timestamp);
}

base::Result<int64_t> ReadBefore::latest_of_rows(BytesView partition_prefix, const plan::Interval& range) {
  const Bytes begin = row::row_record_key(partition_prefix, range.begin);
  const Bytes end = range.end ? row::row_record_key(partition_prefix, *range.end)
                              : row::after(partition_prefix).value_or(Bytes(16, '\xff'));
  const std::unique_ptr<storage::Iterator> records = iterate(begin, end);
  int64_t latest = row::no_timestamp;
  row::Fragment fragment;
  for (records->seek_to_first(); records->valid(); records->next()) {
    if (!row::decode(records->value(), fragment)) return base::fail(corrupt_record());
    latest = std::max(latest, latest_of(fragment));
  }
  SIBYL_TRY(records->status());
  return latest;
}

}  // namespace sibyl::execute
