#include "execute/index/build.h"

#include <functional>
#include <limits>

#include "execute/corrupt.h"
#include "execute/index/index_change.h"
#include "execute/index/view_change.h"
#include "execute/read/reader.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

base::Status write_change(const BuildTarget& target, const RowChange& change, const storage::Store& store,
                          storage::WriteSet& writes, LeftOut& left_out) {
  if (target.index != nullptr) return write_index_change(*target.index, change, store.entry_runs(), writes);
  if (change.is_static) return {};
  SIBYL_ASSIGN(const size_t too_long, write_view_change(target.view, change, writes));
  if (too_long != 0 && left_out.rows++ == 0) left_out.partition_key = Bytes(change.partition_key);
  return {};
}

// Visits the static rows and the rows of a step.
base::Status visit_existing(const schema::Table& table, const storage::Store& store, const BuildStep& step,
                            const std::function<base::Status(const RowChange&)>& visit) {
  ReadPlan plan;
  plan.table = &table;
  // This time is earlier than any expiry, so nothing counts as expired.
  plan.now_seconds = std::numeric_limits<int64_t>::min();
  for (const Bytes& prefix : step.partitions)
    if (!row::decode_partition_key(prefix, plan.keys.emplace_back())) return base::fail(corrupt_record());
  plan.intervals.push_back({step.from, step.to});
  SIBYL_ASSIGN(const std::unique_ptr<Reader> reader, open_reader(store, plan));
  const row::Fragment nothing;
  while (true) {
    SIBYL_ASSIGN(const bool has_partition, reader->next_partition());
    if (!has_partition) return {};
    if (step.from.empty() && exists(reader->static_row()))
      SIBYL_TRY(visit({table, reader->partition_key(), {}, true, nothing, reader->static_row()}));
    while (true) {
      SIBYL_ASSIGN(const bool has_row, reader->next_row());
      if (!has_row) break;
      SIBYL_TRY(visit({table, reader->partition_key(), reader->clustering(), false, nothing, reader->row()}));
    }
  }
}

}  // namespace

base::Result<BuildStep> next_build_step(const schema::Table& table, const storage::Store& store,
                                        BytesView position) {
  return next_build_step(store, position.empty() ? row::table_begin(table.storage_id) : Bytes(position),
                         row::table_end(table.storage_id));
}

base::Result<BuildStep> next_build_step(const storage::Store& store, BytesView position, BytesView end) {
  BuildStep step;
  const auto records = store.iterate(position, end);
  // The position is a row's key if some rows of its partition are done, otherwise the prefix of a partition.
  row::RecordKey parsed, begins;
  const bool is_within = row::parse_record_key(position, begins) && begins.kind == row::RecordKind::row;
  size_t count = 0, bytes = 0;
  for (records->seek_to_first(); records->valid(); records->next(), ++count) {
    const BytesView key = records->key();
    if (!row::parse_record_key(key, parsed)) return base::fail(corrupt_record());
    const BytesView prefix = parsed.prefix(key);
    if (step.partitions.empty() || step.partitions.back() != prefix) {
      // The rest of a partition that is built in parts forms a separate step.
      if (!step.from.empty()) {
        step.next = Bytes(prefix);
        return step;
      }
      step.partitions.emplace_back(prefix);
      if (count == 0 && is_within && begins.prefix(position) == prefix) step.from = Bytes(begins.rest);
    }
    if (count < BuildStep::max_records && bytes < BuildStep::max_bytes) {
      bytes += key.size() + records->value().size();
      continue;
    }
    // A partition that does not fit into one step is divided into several.
    if (step.partitions.size() == 1) {
      if (parsed.kind != row::RecordKind::row) continue;
      step.to = Bytes(parsed.rest);
      step.next = Bytes(key);
    } else {
      step.next = Bytes(step.partitions.back());
      step.partitions.pop_back();
    }
    return step;
  }
  SIBYL_TRY(records->status());
  return step;
}

base::Result<LeftOut> add_existing(const schema::Table& table, const BuildTarget& target,
                                   const storage::Store& store, const BuildStep& step,
                                   storage::WriteSet& writes) {
  LeftOut left_out;
  SIBYL_TRY(visit_existing(table, store, step, [&](const RowChange& change) {
    return write_change(target, change, store, writes, left_out);
  }));
  return left_out;
}

base::Result<LeftOut> add_existing_view_rows(const schema::Table& table, const schema::TablePtr& view,
                                             const storage::Store& store, const BuildStep& step,
                                             std::vector<ViewRow>& rows) {
  LeftOut left_out;
  SIBYL_TRY(visit_existing(table, store, step, [&](const RowChange& change) -> base::Status {
    storage::WriteSet writes;
    SIBYL_TRY(write_change({.index = nullptr, .view = view}, change, store, writes, left_out));
    for (storage::WriteSet::Operation& operation : std::move(writes).take())
      rows.push_back({std::move(operation.key),
                      row::row_record_key(row::partition_prefix(table.storage_id, change.partition_key),
                                          change.clustering)});
    return {};
  }));
  return left_out;
}

}  // namespace sibyl::execute
