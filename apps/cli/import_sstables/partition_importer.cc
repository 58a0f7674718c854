#include "cli/import_sstables/partition_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/import_sstables/counter_value.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/print.h"

namespace sibyl::cli::import_sstables {
namespace {

using base::Bytes;
using Key = std::shared_ptr<const std::vector<Bytes>>;
using types::ValueView;

// True if `cell` wins over the other cell of the same list element: the later one wins, then a deletion, then
// the larger value.
bool replaces(const sstable::Cell& cell, const sstable::Cell& other) {
  if (cell.timestamp != other.timestamp) return cell.timestamp > other.timestamp;
  if (cell.is_deleted != other.is_deleted) return cell.is_deleted;
  return cell.value > other.value;
}

void keep_latest(std::optional<sstable::Deletion>& kept, const sstable::Deletion& deletion) {
  if (!kept || deletion.timestamp > kept->timestamp) kept = deletion;
}

bool deletes(const std::optional<sstable::Deletion>& deletion, int64_t timestamp) {
  return deletion && timestamp <= deletion->timestamp;
}

// Positions of list elements are time-based UUIDs, in their own order.
struct PositionOrder {
  bool operator()(const Bytes& left, const Bytes& right) const {
    return types::compare(*types::scalar(types::Kind::timeuuid), left, right) < 0;
  }
};

using ListCells = std::map<Bytes, sstable::Cell, PositionOrder>;

struct CounterCell {
  CounterShards shards;
  int64_t timestamp = std::numeric_limits<int64_t>::min();
  bool is_deleted = false;
};

struct MergedRow {
  std::optional<sstable::Deletion> deletion;
  std::map<std::string, ListCells> lists;                   // by column
  std::map<std::string, sstable::Deletion> list_deletions;  // by column
  std::map<std::string, CounterCell> counters;              // by column
};

bool contains(const sstable::Header& header, const sstable::RangeDeletion& range,
              const sstable::ClusteringPrefix& clustering) {
  const int from_start = compare_clustering(header, clustering, range.start.prefix);
  const int from_end = compare_clustering(header, clustering, range.end.prefix);
  return (from_start > 0 || (from_start == 0 && range.start.is_inclusive)) &&
         (from_end < 0 || (from_end == 0 && range.end.is_inclusive));
}

}  // namespace

struct PartitionImporter::PartItems {
  Key key;
  const sstable::Header* header = nullptr;
  std::optional<sstable::Deletion> deletion;
  std::vector<sstable::RangeDeletion> ranges;
  std::map<std::pair<bool, sstable::ClusteringPrefix>, MergedRow>
      rows;  // static cells have the key {true, no clustering key}, and come first

  // True if a deletion of the partition, of a range or of the row covers a cell with this timestamp.
  bool is_deleted(const std::pair<bool, sstable::ClusteringPrefix>& place, const MergedRow& row,
                  int64_t timestamp) const {
    if (deletes(deletion, timestamp) || deletes(row.deletion, timestamp)) return true;
    return !place.first && std::ranges::any_of(ranges, [&](const sstable::RangeDeletion& range) {
      return timestamp <= range.deletion.timestamp && contains(*header, range, place.second);
    });
  }
};

class PartitionImporter::WrittenItem : public migrate::WriteSource {
 public:
  WrittenItem(const TablePlan& plan, Key key, sstable::Row row, sstable::RangeDeletion range = {})
      : key_(std::move(key)), row_(std::move(row)), range_(std::move(range)), table_(plan.name) {}

  std::string describe(size_t) const override {
    std::string text = table_ + " key 0x";
    for (const Bytes& component : *key_) text += base::to_hex(component) + " ";
    for (const Bytes& component : row_.clustering) text += "0x" + base::to_hex(component) + " ";
    return text;
  }
  std::vector<ValueView> target_key(size_t) const override { return {}; }
  base::Result<migrate::RowWrites> make(size_t, const client::Row&) const override {
    return migrate::RowWrites();
  }

  const Key& key() const { return key_; }
  const sstable::Row& row() const { return row_; }
  const sstable::RangeDeletion& range() const { return range_; }
  std::vector<ValueView> primary_key() const {
    std::vector<ValueView> values;
    for (const Bytes& component : *key_) values.push_back(ValueView::of(component));
    if (!row_.is_static)
      for (const Bytes& component : row_.clustering) values.push_back(ValueView::of(component));
    return values;
  }

 private:
  const Key key_;
  const sstable::Row row_;
  const sstable::RangeDeletion range_;
  const std::string table_;
};

// A list that is sent again only if the target has no more elements than before the request.
struct PartitionImporter::PendingList : public WrittenItem {
  PendingList(const TablePlan& table, Key key, sstable::Row row, const PartPlan& part_plan,
              size_t column_index)
      : WrittenItem(table, std::move(key), std::move(row)),
        plan(table),
        part(part_plan),
        column(column_index) {
    size_t position = 0;
    for (size_t i = 0; i < column; ++i) position += part.part.columns[i].is_list() ? 1 : 0;
    target_position = position;
  }
  std::vector<Request> requests() const {
    static const sstable::Header no_header;
    return RequestMaker(plan, no_header, *key()).add_to_list(row(), part.part.columns[column], elements);
  }
  std::vector<ValueView> target_key(size_t) const override { return primary_key(); }
  base::Result<migrate::RowWrites> make(size_t request, const client::Row& target) const override {
    std::vector<Request> all = requests();
    size_t before = 0;
    for (size_t i = 0; i < request; ++i) before += all[i].writes.writes.size();
    if (target_position < target.size() && target[target_position]) {
      const auto present = types::split(*part.part.columns[column].type, *target[target_position]);
      if (!present || present->size() > before) return migrate::RowWrites();
    }
    return std::move(all[request].writes);
  }

  const TablePlan& plan;
  const PartPlan& part;
  size_t column = 0, target_position = 0;
  std::vector<sstable::Cell> elements;
};

struct PartitionImporter::PendingCounter : public WrittenItem {
  PendingCounter(const TablePlan& table, Key key, sstable::Row row, const PartPlan& part_plan)
      : WrittenItem(table, std::move(key), std::move(row)), part(part_plan) {}
  std::vector<ValueView> target_key(size_t) const override { return primary_key(); }
  base::Result<migrate::RowWrites> make(size_t, const client::Row& target) const override {
    client::Row source;
    for (const ValueView& value : primary_key()) source.emplace_back(value.bytes);
    for (const std::optional<Bytes>& total : totals)
      source.push_back(total ? std::optional<base::BytesView>(*total) : std::nullopt);
    return migrate::make_writes(part.part, source, target);
  }

  const PartPlan& part;
  std::vector<std::optional<Bytes>> totals;  // totals by the columns of the part
};

PartitionImporter::PartitionImporter(const TablePlan& plan, const migrate::WriterOptions& server,
                                     migrate::Report& report)
    : plan_(plan), report_(report), row_writer_(server), static_writer_(server) {
  needs_merge_ = plan.is_counter;
  for (const auto& part : {plan.row_part, plan.static_part})
    if (part && !part->part.read_target.empty()) needs_merge_ = true;
}

base::Status PartitionImporter::open() {
  if (plan_.row_part)
    SIBYL_TRY(row_writer_.use(plan_.row_part->part.statements, plan_.row_part->part.read_target));
  if (plan_.static_part)
    SIBYL_TRY(static_writer_.use(plan_.static_part->part.statements, plan_.static_part->part.read_target));
  return {};
}

base::Status PartitionImporter::import(const std::vector<Merge::Member>& members) {
  PartItems items;
  for (const Merge::Member& member : members) {
    const sstable::Header& header = member.reader->header();
    const auto components = types::split_partition_key(member.partition.key, plan_.partition_key.size());
    if (!components)
      return base::fail(sstable::damage(member.reader->file(), member.reader->offset(),
                                        "a partition key does not have the table's columns"));
    const Key key = std::make_shared<const std::vector<Bytes>>(*components);
    items.key = key;
    items.header = &header;
    if (member.partition.deletion) {
      keep_latest(items.deletion, *member.partition.deletion);
      if (!plan_.is_counter) {
        const auto source = std::make_shared<WrittenItem>(plan_, key, sstable::Row());
        std::vector<Request> requests;
        requests.push_back(
            RequestMaker(plan_, header, *source->key()).delete_partition(*member.partition.deletion));
        SIBYL_TRY(submit(row_writer_, source, std::move(requests)));
      }
    }
    while (true) {
      SIBYL_ASSIGN(sstable::Item item, member.reader->next_item());
      if (item.kind == sstable::Item::Kind::end) break;
      if (needs_merge_) SIBYL_TRY(collect(*member.reader, items, item));
      if (!plan_.is_counter) SIBYL_TRY(write_item(header, key, std::move(item)));
    }
  }
  if (!needs_merge_) return {};
  return plan_.is_counter ? write_counters(items) : write_lists(items);
}

base::Status PartitionImporter::submit(migrate::TargetWriter& writer,
                                       const std::shared_ptr<migrate::WriteSource>& source,
                                       std::vector<Request> requests) {
  for (size_t i = 0; i < requests.size(); ++i)
    SIBYL_TRY(writer.submit(source, i, std::move(requests[i].writes), requests[i].now_seconds));
  return {};
}

base::Status PartitionImporter::write_item(const sstable::Header& header, const Key& key,
                                           sstable::Item item) {
  const bool is_row = item.kind == sstable::Item::Kind::row;
  const auto source = std::make_shared<WrittenItem>(plan_, key, std::move(item.row), std::move(item.range));
  const RequestMaker maker(plan_, header, *source->key());
  if (is_row) {
    SIBYL_ASSIGN(std::vector<Request> requests, maker.write_row(source->row()));
    if (!requests.empty()) ++rows_;
    return submit(source->row().is_static ? static_writer_ : row_writer_, source, std::move(requests));
  }
  auto requests = maker.delete_range(source->range());
  if (requests) return submit(row_writer_, source, std::move(*requests));
  return report_.reject(source->describe(0), requests.error().message());
}

base::Status PartitionImporter::collect(const sstable::DataReader& reader, PartItems& items,
                                        const sstable::Item& item) {
  if (item.kind == sstable::Item::Kind::range) {
    items.ranges.push_back(item.range);
    return {};
  }
  const sstable::Row& row = item.row;
  const auto& part = row.is_static ? plan_.static_part : plan_.row_part;
  const auto& columns = row.is_static ? reader.header().static_columns : reader.header().columns;
  MergedRow& merged = items.rows[{row.is_static, row.clustering}];
  if (row.deletion) keep_latest(merged.deletion, *row.deletion);
  if (!part) return {};
  for (const auto& [column, deletion] : row.column_deletions) {
    const auto [known, is_new] = merged.list_deletions.try_emplace(columns[column].name, deletion);
    if (!is_new && deletion.timestamp > known->second.timestamp) known->second = deletion;
  }
  for (const sstable::Cell& cell : row.cells) {
    const std::string& name = columns[cell.column].name;
    const auto planned = part->columns.find(name);
    if (planned == part->columns.end()) continue;
    if (plan_.is_counter) {
      CounterCell& counter = merged.counters[name];
      counter.timestamp = std::max(counter.timestamp, cell.timestamp);
      counter.is_deleted = counter.is_deleted || cell.is_deleted;
      if (!cell.is_deleted && !counter.shards.add(cell.value))
        return base::fail(sstable::damage(reader.file(), reader.offset(), "a malformed counter"));
    } else if (part->part.columns[planned->second.part_column].is_list()) {
      const auto [known, is_new] = merged.lists[name].try_emplace(cell.path, cell);
      if (!is_new && replaces(cell, known->second)) known->second = cell;
    }
  }
  return {};
}

base::Status PartitionImporter::write_lists(const PartItems& items) {
  for (const auto& [place, merged] : items.rows) {
    const auto& part = place.first ? plan_.static_part : plan_.row_part;
    for (const auto& [name, cells] : merged.lists) {
      sstable::Row row;
      row.is_static = place.first;
      row.clustering = place.second;
      const size_t column = part->columns.at(name).part_column;
      auto list = std::make_shared<PendingList>(plan_, items.key, std::move(row), *part, column);
      const auto deletion = merged.list_deletions.find(name);
      for (const auto& [position, cell] : cells) {
        const bool is_replaced =
            deletion != merged.list_deletions.end() && cell.timestamp <= deletion->second.timestamp;
        if (!cell.is_deleted && !is_replaced && !items.is_deleted(place, merged, cell.timestamp))
          list->elements.push_back(cell);
      }
      if (!list->elements.empty()) lists_.push_back(std::move(list));
    }
  }
  constexpr size_t lists_at_a_time = 256;
  return lists_.size() >= lists_at_a_time ? flush_lists() : base::Status();
}

base::Status PartitionImporter::flush_lists() {
  std::vector<std::vector<ValueView>> row_keys, static_keys;
  for (const auto& list : lists_)
    (list->row().is_static ? static_keys : row_keys).push_back(list->primary_key());
  std::vector<migrate::TargetWriter::TargetRow> rows, statics;
  if (!row_keys.empty()) {
    SIBYL_ASSIGN(rows, row_writer_.read(row_keys));
  }
  if (!static_keys.empty()) {
    SIBYL_ASSIGN(statics, static_writer_.read(static_keys));
  }
  size_t next_row = 0, next_static = 0;
  for (const auto& list : lists_) {
    const bool is_static = list->row().is_static;
    const auto& target = is_static ? statics[next_static++] : rows[next_row++];
    if (list->target_position < target.values.size() && target.values[list->target_position]) {
      ++kept_lists_;
      continue;
    }
    migrate::TargetWriter& writer = is_static ? static_writer_ : row_writer_;
    std::vector<Request> requests = list->requests();
    const bool is_ordered = requests.size() > 1;
    for (size_t i = 0; i < requests.size(); ++i) {
      SIBYL_TRY(writer.submit(list, i, std::move(requests[i].writes), requests[i].now_seconds));
      // Elements with a later timestamp must be appended after the earlier ones.
      if (is_ordered) SIBYL_TRY(writer.drain());
    }
  }
  lists_.clear();
  return {};
}

base::Status PartitionImporter::write_counters(const PartItems& items) {
  for (const auto& [place, merged] : items.rows) {
    const auto& part = place.first ? plan_.static_part : plan_.row_part;
    if (!part) continue;
    sstable::Row row;
    row.is_static = place.first;
    row.clustering = place.second;
    const auto source = std::make_shared<PendingCounter>(plan_, items.key, std::move(row), *part);
    bool has_value = false;
    for (const migrate::PartColumn& column : part->part.columns) {
      const auto found = merged.counters.find(column.name);
      const bool is_live = found != merged.counters.end() && !found->second.is_deleted &&
                           !items.is_deleted(place, merged, found->second.timestamp);
      has_value = has_value || is_live;
      source->totals.push_back(is_live ? std::optional(types::encode_int64(found->second.shards.total()))
                                       : std::nullopt);
    }
    if (!has_value) continue;
    ++rows_;
    migrate::TargetWriter& writer = place.first ? static_writer_ : row_writer_;
    SIBYL_ASSIGN(const auto targets, writer.read({source->primary_key()}));
    SIBYL_ASSIGN(migrate::RowWrites writes, source->make(0, targets.front().view()));
    SIBYL_TRY(writer.submit(source, 0, std::move(writes)));
  }
  return {};
}

base::Status PartitionImporter::finish() {
  SIBYL_TRY(flush_lists());
  SIBYL_TRY(row_writer_.drain());
  return static_writer_.drain();
}

}  // namespace sibyl::cli::import_sstables
