#include "execute/index/maintenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "execute/corrupt.h"
#include "execute/index/index_change.h"
#include "execute/index/view_change.h"
#include "execute/interrupt_check.h"
#include "execute/read/reader.h"
#include "execute/vector/vector_indexes.h"
#include "plan/evaluation/keys.h"
#include "row/merge.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

using row::Deletion;
using row::Fragment;
using row::RecordKind;

// This time is earlier than any expiry, so nothing counts as expired.
constexpr int64_t before_all_expiry = std::numeric_limits<int64_t>::min();

// The number of rows that are read at once.
constexpr size_t rows_per_read = 128;

// An operation on a base table. Its key is borrowed from the write set.
struct Entry {
  const schema::Table* table;
  size_t prefix_size;
  RecordKind kind;
  BytesView key;
  BytesView value;

  BytesView prefix() const { return key.substr(0, prefix_size); }
  BytesView rest() const { return key.substr(prefix_size + 1); }
};

// All deletions that cover rows of one partition.
struct Covering {
  Deletion partition;
  RangeDeletions ranges;

  Deletion of(BytesView clustering) const {
    return ranges.empty() ? partition : row::reconcile(partition, ranges.covering(clustering));
  }
};

bool is_same(const row::Marker& left, const row::Marker& right) {
  return left.timestamp == right.timestamp && left.time_to_live == right.time_to_live &&
         left.expires_seconds == right.expires_seconds;
}
bool is_same(const row::Cell& left, const row::Cell& right) {
  return left.column == right.column && left.kind == right.kind && left.timestamp == right.timestamp &&
         left.time_to_live == right.time_to_live && left.expires_seconds == right.expires_seconds &&
         left.path == right.path && left.value == right.value && left.original_path == right.original_path;
}
// REQUIRES: both fragments are normalised.
bool is_same(const Fragment& left, const Fragment& right) {
  return is_same(left.marker, right.marker) && left.original_clustering == right.original_clustering &&
         std::equal(left.cells.begin(), left.cells.end(), right.cells.begin(), right.cells.end(),
                    [](const row::Cell& one, const row::Cell& other) { return is_same(one, other); });
}

base::Error too_much_for(const schema::Table& table) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("This changes too much in the indexes and views of {}.{} for one write",
                                 table.keyspace, table.name))
      .with_hint("write or delete fewer rows at once: by ranges of their clustering columns");
}

base::Error too_long_for(const schema::Table& view, size_t size) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("Key length of {} is longer than maximum of {}", size, plan::max_key_size))
      .with_hint(fmt::format("it is the row's key in the materialized view {}.{}", view.keyspace, view.name));
}

// One per thread, so that its memory is reused by the next write.
class MaintenanceBuilder {
 public:
  void begin(const storage::Store& store, storage::WriteSet& out, ViewRows* views, const Interrupt* interrupt,
             size_t max_bytes) {
    store_ = &store;
    out_ = &out;
    views_ = views;
    view_bytes_ = 0;
    interrupt_ = InterruptCheck(interrupt);
    max_bytes_ = max_bytes;
  }

  // The entries must be of one partition, in key order.
  base::Status run(std::span<const Entry> entries) {
    table_ = entries.front().table;
    prefix_ = entries.front().prefix();
    if (!row::decode_partition_key(prefix_, partition_key_)) return base::fail(corrupt_record());
    const auto of_kind = [&](RecordKind kind) {
      const auto [first, last] = std::equal_range(
          entries.begin(), entries.end(), kind,
          [](const auto& left, const auto& right) { return kind_of(left) < kind_of(right); });
      return std::span<const Entry>(first, last);
    };
    const auto headers = of_kind(RecordKind::partition);
    const auto ranges = of_kind(RecordKind::range_deletion);
    rows_ = of_kind(RecordKind::row);
    SIBYL_TRY(read_named());
    SIBYL_TRY(load_covering(headers, ranges));
    if (!headers.empty() && table_->has_static()) SIBYL_TRY(emit({}, true));
    SIBYL_TRY(compare_named());
    return compare_deleted(ranges);
  }

 private:
  static RecordKind kind_of(const Entry& entry) { return entry.kind; }
  static RecordKind kind_of(RecordKind kind) { return kind; }

  // Reads the partition's own record and the first named rows together.
  base::Status read_named() {
    keys_.clear();
    keys_.push_back(row::partition_record_key(prefix_));
    next_entry_ = 0;
    return read_rows();
  }

  // Reads the next rows of `rows_`, in addition to the keys that are already in `keys_`.
  base::Status read_rows() {
    first_entry_ = next_entry_;
    for (; next_entry_ < rows_.size() && keys_.size() < rows_per_read; ++next_entry_)
      if (next_entry_ == first_entry_ || rows_[next_entry_].key != rows_[next_entry_ - 1].key)
        keys_.emplace_back(rows_[next_entry_].key);
    // Includes all operations on the last row.
    while (next_entry_ < rows_.size() && next_entry_ > 0 &&
           rows_[next_entry_].key == rows_[next_entry_ - 1].key)
      ++next_entry_;
    values_.assign(keys_.size(), std::nullopt);
    return store_->get_many(keys_, values_);
  }

  // Reads the partition's own record and its range deletions, before and after the write. Leaves the static
  // row in before_ and after_.
  base::Status load_covering(std::span<const Entry> headers, std::span<const Entry> ranges) {
    SIBYL_TRY(load(values_.front(), headers));
    before_covering_.partition = before_.deletion;
    after_covering_.partition = after_.deletion;
    has_new_partition_deletion_ = after_.deletion.timestamp != before_.deletion.timestamp;
    before_covering_.ranges.clear();
    after_covering_.ranges.clear();
    if (before_.has_range_deletions) SIBYL_TRY(load_range_deletions());
    for (const Entry& entry : ranges) SIBYL_TRY(add_range(entry.rest(), entry.value, false));
    before_covering_.ranges.finish();
    after_covering_.ranges.finish();
    settle(before_, {});
    settle(after_, {});
    return {};
  }

  base::Status load_range_deletions() {
    Bytes begin(prefix_), end(prefix_);
    begin.push_back(static_cast<char>(RecordKind::range_deletion));
    end.push_back(static_cast<char>(RecordKind::row));
    const auto records = store_->iterate(begin, end);
    for (records->seek_to_first(); records->valid(); records->next())
      SIBYL_TRY(add_range(records->key().substr(prefix_.size() + 1), records->value(), true));
    return records->status();
  }

  base::Status add_range(BytesView bounds, BytesView value, bool is_stored) {
    Bytes begin;
    std::optional<Bytes> end;
    if (!row::decode_range_bounds(bounds, begin, end) || !row::decode(value, written_))
      return base::fail(corrupt_record());
    if (is_stored) before_covering_.ranges.add(begin, end, written_.deletion);
    after_covering_.ranges.add(std::move(begin), std::move(end), written_.deletion);
    return {};
  }

  // Sets before_ to the stored record, and after_ to that record with the entries applied.
  base::Status load(const std::optional<Bytes>& stored, std::span<const Entry> entries) {
    before_.clear();
    if (stored && !row::decode(*stored, before_)) return base::fail(corrupt_record());
    return load_after(entries);
  }

  base::Status load_after(std::span<const Entry> entries) {
    after_ = before_;
    for (const Entry& entry : entries) {
      if (!row::decode(entry.value, written_)) return base::fail(corrupt_record());
      row::add(written_, after_);
    }
    row::normalise(after_);
    return {};
  }

  void settle(Fragment& fragment, const Deletion& covering) const {
    row::visible_at(fragment, covering, before_all_expiry);
    remove_dropped_cells(*table_, fragment);
  }

  base::Status compare_named() {
    size_t value = 1;  // the first value is the partition's own record
    while (true) {
      for (size_t at = first_entry_; at < next_entry_; ++value) {
        size_t end = at + 1;
        while (end < next_entry_ && rows_[end].key == rows_[at].key) ++end;
        SIBYL_TRY(load(values_[value], rows_.subspan(at, end - at)));
        SIBYL_TRY(compare(rows_[at].rest()));
        at = end;
      }
      if (next_entry_ == rows_.size()) return {};
      keys_.clear();
      SIBYL_TRY(read_rows());
      value = 0;
    }
  }

  // Compares the rows under new deletions that no operation names.
  base::Status compare_deleted(std::span<const Entry> ranges) {
    if (has_new_partition_deletion_) return compare_stored({}, std::nullopt);
    Bytes begin, done;
    std::optional<Bytes> end;
    // Entries are sorted by their begin. The intersection of two ranges is visited once.
    for (const Entry& entry : ranges) {
      if (!row::decode_range_bounds(entry.rest(), begin, end)) return base::fail(corrupt_record());
      if (end && *end <= done) continue;
      SIBYL_TRY(compare_stored(std::max(begin, done), end));
      if (!end) break;
      done = *end;
    }
    return {};
  }

  base::Status compare_stored(BytesView begin, const std::optional<Bytes>& end) {
    const Bytes last = end ? row::row_record_key(prefix_, *end) : row::after(prefix_).value_or(Bytes());
    const auto records = store_->iterate(row::row_record_key(prefix_, begin), last);
    for (records->seek_to_first(); records->valid(); records->next()) {
      const BytesView key = records->key();
      if (is_named(key)) continue;
      before_.clear();
      if (!row::decode(records->value(), before_)) return base::fail(corrupt_record());
      after_ = before_;
      SIBYL_TRY(compare(key.substr(prefix_.size() + 1)));
    }
    return records->status();
  }

  bool is_named(BytesView key) const {
    const auto found =
        std::lower_bound(rows_.begin(), rows_.end(), key,
                         [](const Entry& entry, BytesView sought) { return entry.key < sought; });
    return found != rows_.end() && found->key == key;
  }

  base::Status compare(BytesView clustering) {
    SIBYL_TRY(interrupt_.step());
    settle(before_, before_covering_.of(clustering));
    settle(after_, after_covering_.of(clustering));
    return emit(clustering, false);
  }

  base::Status emit(BytesView clustering, bool is_static) {
    if (is_same(before_, after_)) return {};
    const RowChange change{*table_, partition_key_, clustering, is_static, before_, after_};
    for (const schema::Index& index : table_->indexes) {
      SIBYL_TRY(check_vector_change(index, change));
      SIBYL_TRY(write_index_change(index, change, store_->entry_runs(), *out_));
    }
    if (is_static) return {};
    for (const schema::TablePtr& view : table_->views) {
      SIBYL_ASSIGN(const size_t too_long, write_view_change(view, change, views_ ? view_writes_ : *out_));
      if (too_long != 0 && !(views_ && views_->leaves_out_long_keys))
        return base::fail(too_long_for(*view, too_long));
    }
    if (views_) name_view_rows(clustering);
    const size_t size =
        view_bytes_ + out_->byte_size() + out_->operations().size() * sizeof(storage::WriteSet::Operation);
    return size > max_bytes_ ? base::fail(too_much_for(*table_)) : base::Status();
  }

  void name_view_rows(BytesView clustering) {
    for (storage::WriteSet::Operation& operation : std::exchange(view_writes_, {}).take()) {
      views_->rows.push_back({std::move(operation.key), row::row_record_key(prefix_, clustering)});
      const ViewRow& row = views_->rows.back();
      view_bytes_ += row.key.size() + row.base_key.size() + sizeof(ViewRow);
    }
  }

  const storage::Store* store_ = nullptr;
  storage::WriteSet* out_ = nullptr;
  ViewRows* views_ = nullptr;  // nullptr: view rows are added to out_
  size_t view_bytes_ = 0;
  storage::WriteSet view_writes_;
  InterruptCheck interrupt_{nullptr};
  size_t max_bytes_ = 0;

  const schema::Table* table_ = nullptr;
  BytesView prefix_;
  Bytes partition_key_;
  std::span<const Entry> rows_;
  size_t first_entry_ = 0, next_entry_ = 0;  // values_ has the values for this range of rows_
  std::vector<Bytes> keys_;
  std::vector<std::optional<Bytes>> values_;
  Covering before_covering_, after_covering_;
  bool has_new_partition_deletion_ = false;
  Fragment before_, after_, written_;
};

// Collects the operations on tables with indexes or views, in key order.
void gather(std::span<const schema::Table* const> tables, const storage::WriteSet& writes,
            std::vector<Entry>& entries) {
  entries.clear();
  std::unordered_map<uint32_t, const schema::Table*> by_id;
  for (const schema::Table* table : tables)
    if (table->needs_index_maintenance()) by_id.emplace(table->storage_id, table);
  row::RecordKey parsed;
  for (const storage::WriteSet::Operation& operation : writes.operations()) {
    if (operation.action != storage::WriteSet::Action::merge || !row::parse_record_key(operation.key, parsed))
      continue;
    const auto table = by_id.find(parsed.table_id);
    if (table == by_id.end()) continue;
    entries.push_back({table->second, parsed.prefix_size, parsed.kind, operation.key, operation.value});
  }
  const auto by_key = [](const Entry& left, const Entry& right) { return left.key < right.key; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_key))
    std::sort(entries.begin(), entries.end(), by_key);
}

}  // namespace

base::Status add_index_maintenance(std::span<const schema::Table* const> tables, const storage::Store& store,
                                   storage::WriteSet& writes, const Interrupt* interrupt, ViewRows* views,
                                   size_t max_bytes) {
  thread_local std::vector<Entry> entries;
  gather(tables, writes, entries);
  // These are separate, because the entries borrow from `writes`.
  storage::WriteSet added;
  thread_local MaintenanceBuilder builder;
  builder.begin(store, added, views, interrupt, max_bytes);
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin + 1;
    while (end < entries.size() && entries[end].prefix() == entries[begin].prefix()) ++end;
    SIBYL_TRY(builder.run(std::span<const Entry>(entries).subspan(begin, end - begin)));
    begin = end;
  }
  writes.append(std::move(added));
  return {};
}

void erase_all(const schema::Table& table, storage::WriteSet& writes) {
  const auto erase = [&](uint32_t id) { writes.erase_range(row::table_begin(id), row::table_end(id)); };
  erase(table.storage_id);
  for (const schema::Index& index : table.indexes) erase(index.storage_id);
  for (const schema::TablePtr& view : table.views) erase(view->storage_id);
}

}  // namespace sibyl::execute
