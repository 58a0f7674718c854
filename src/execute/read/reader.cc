#include "execute/read/reader.h"

#include <algorithm>

#include "execute/corrupt.h"
#include "execute/environment.h"
#include "execute/row_change.h"
#include "plan/evaluation/intervals.h"
#include "row/cell_stream.h"
#include "row/record_key.h"

namespace sibyl::execute {

using base::Result;
using row::Deletion;
using row::Fragment;

// --- Range deletions

void RangeDeletions::add(Bytes begin, std::optional<Bytes> end, const Deletion& deletion) {
  ranges_.push_back({std::move(begin), std::move(end), deletion});
}

namespace {
Deletion later(const Deletion& left, const Deletion& right) {
  return left.timestamp >= right.timestamp ? left : right;
}
}  // namespace

void RangeDeletions::finish() {
  std::vector<Bytes> bounds;
  for (const Range& range : ranges_) {
    bounds.push_back(range.begin);
    if (range.end) bounds.push_back(*range.end);
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<const Range*> open;  // a heap with the latest deletion on top
  const auto earlier = [](const Range* a, const Range* b) {
    return a->deletion.timestamp < b->deletion.timestamp;
  };
  segments_.clear();
  size_t next = 0;
  for (Bytes& bound : bounds) {
    for (; next < ranges_.size() && ranges_[next].begin <= bound; ++next) {
      open.push_back(&ranges_[next]);
      std::push_heap(open.begin(), open.end(), earlier);
    }
    while (!open.empty() && open.front()->end && *open.front()->end <= bound) {
      std::pop_heap(open.begin(), open.end(), earlier);
      open.pop_back();
    }
    segments_.push_back({std::move(bound), open.empty() ? Deletion{} : open.front()->deletion});
  }
  ranges_.clear();
}

Deletion RangeDeletions::covering(BytesView clustering) const {
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), clustering,
                       [](BytesView key, const Segment& segment) { return key < segment.begin; });
  return after == segments_.begin() ? Deletion{} : std::prev(after)->deletion;
}

namespace {

// Counts like Cassandra: every dead cell, and a row that is deleted and has no live data.
int64_t count_tombstones(const Fragment& fragment, const Deletion& covering, int64_t now_seconds) {
  int64_t count = 0;
  bool is_alive = fragment.marker.is_live(now_seconds) && !covering.covers(fragment.marker.timestamp);
  for (const row::Cell& cell : fragment.cells) {
    if (covering.covers(cell.timestamp)) continue;
    cell.is_live(now_seconds) ? static_cast<void>(is_alive = true) : static_cast<void>(++count);
  }
  if (!is_alive && fragment.deletion.exists()) ++count;
  return count;
}

base::Error too_many_tombstones() {
  base::ErrorDetails details;
  details.code = base::ErrorCode::read_failure;
  details.message =
      "Operation failed - received 0 responses and 1 failures: READ_TOO_MANY_TOMBSTONES from /127.0.0.1:7000";
  details.failures = 1;
  details.failure_reason = 1;  // the protocol's code for READ_TOO_MANY_TOMBSTONES
  return base::Error(std::move(details));
}

// Counts the tombstones encountered by one read.
class TombstoneCount {
 public:
  base::Status add(BytesView bytes, const Fragment& fragment, const Deletion& covering,
                   const ReadPlan& plan) {
    if (!row::is_perishable(bytes)) return {};
    return add(count_tombstones(fragment, covering, plan.now_seconds), plan);
  }
  base::Status add(int64_t count, const ReadPlan& plan) {
    count_ += count;
    return count_ > plan.max_tombstones ? base::fail(too_many_tombstones()) : base::Status();
  }
  int64_t count() const { return count_; }

 private:
  int64_t count_ = 0;
};

// Calls row::visible_at() and removes the cells of dropped columns. Returns false for a row that had no other
// cells.
bool make_visible(Fragment& fragment, const Deletion& covering, const ReadPlan& plan) {
  if (!row::visible_at(fragment, covering, plan.now_seconds)) return false;
  // The marker of a view row determines how long the row lives. Cells may live longer.
  if (plan.table->is_view() && !fragment.marker.exists()) return false;
  remove_dropped_cells(*plan.table, fragment);
  return fragment.marker.is_live(plan.now_seconds) || !fragment.cells.empty();
}

// True if the row has only live cells, as most rows have. Then nothing has to be counted or removed.
// REQUIRES: `fragment` was decoded from `bytes`.
bool is_wholly_visible(BytesView bytes, const Fragment& fragment, const Deletion& covering,
                       const ReadPlan& plan) {
  return !covering.exists() && !row::is_perishable(bytes) && plan.table->dropped_columns.empty() &&
         !plan.table->is_view() && (fragment.marker.exists() || !fragment.cells.empty());
}

// Decodes a row, or a partition's record with its static columns. Elements of a large one that the statement does not
// select are skipped.
bool decode_selected(BytesView bytes, const ReadPlan& plan, bool is_static, Fragment& fragment) {
  if (plan.select == nullptr || bytes.size() < row::min_streamed_bytes) return row::decode(bytes, fragment);
  std::vector<uint32_t> columns;
  for (const auto& source : is_static ? plan.select->static_inputs : plan.select->regular_inputs)
    columns.push_back(source.at);
  return row::decode_columns(bytes, columns, fragment);
}

// A partition's own record: its deletion, its static row, and whether range deletions exist.
struct PartitionRecord {
  Bytes bytes;
  Fragment fragment;
  Deletion deletion;
  bool has_range_deletions = false;
  bool is_loaded = false;  // false: everything else is empty

  void reset() {
    if (!is_loaded) return;
    is_loaded = false;
    bytes.clear();
    fragment = {};
    deletion = {};
    has_range_deletions = false;
  }
  bool load(BytesView value, const ReadPlan& plan) {
    is_loaded = true;
    bytes.assign(value);
    if (!decode_selected(bytes, plan, true, fragment)) return false;
    deletion = fragment.deletion;
    has_range_deletions = fragment.has_range_deletions;
    make_visible(fragment, {}, plan);
    return true;
  }
};

// --- Single rows: one get_many() for everything. The partitions' own records are not read if the table has
// none.

class PointReader final : public Reader {
 public:
  PointReader(const ReadPlan& plan) : plan_(plan) {}

  // Returns false if range deletions exist. Then only an iterator reads everything as of one moment.
  Result<bool> load(const storage::Store& store) {
    const uint32_t table = plan_.table->storage_id;
    if (!store.may_have_partition_records(table)) {
      SIBYL_TRY(read(store, false));
      if (!store.may_have_partition_records(table)) return true;
    }
    SIBYL_TRY(read(store, true));
    return is_complete();
  }

  Result<bool> load(const storage::Snapshot& snapshot) {
    const std::vector<Bytes> keys = record_keys(true);
    values_.resize(keys.size());
    Bytes value;
    for (size_t i = 0; i < keys.size(); ++i) {
      SIBYL_ASSIGN(const bool found, snapshot.get(keys[i], value));
      if (found) values_[i] = std::move(value);
    }
    return is_complete();
  }

  Result<bool> next_partition() override {
    while (++partition_ < static_cast<int64_t>(plan_.keys.size())) {
      next_row_ = 0;
      is_continued_ = false;
      if (plan_.after && !reached_) {
        if (key() != plan_.after->partition_key) continue;
        reached_ = true;
        if (!plan_.after->clustering) continue;
        is_continued_ = true;
      }
      record_.reset();
      if (!has_partition_records_) return true;
      const std::optional<Bytes>& value = values_[base_index()];
      if (value && !record_.load(*value, plan_)) return base::fail(corrupt_record());
      return true;
    }
    return false;
  }

  Result<bool> next_row() override {
    while (next_row_ < plan_.rows.size()) {
      const size_t index = plan_.reversed ? plan_.rows.size() - 1 - next_row_ : next_row_;
      ++next_row_;
      clustering_ = plan_.rows[index];
      if (is_continued_ && !is_after_position()) continue;
      const std::optional<Bytes>& value = values_[base_index() + (has_partition_records_ ? 1 : 0) + index];
      if (!value) continue;
      if (!decode_selected(*value, plan_, false, row_)) return base::fail(corrupt_record());
      if (is_wholly_visible(*value, row_, record_.deletion, plan_)) return true;
      SIBYL_TRY(tombstones_.add(*value, row_, record_.deletion, plan_));
      if (make_visible(row_, record_.deletion, plan_)) return true;
    }
    return false;
  }

  const Bytes& partition_key() const override { return key(); }
  const Fragment& static_row() const override { return record_.fragment; }
  BytesView clustering() const override { return clustering_; }
  const Fragment& row() const override { return row_; }
  bool is_continued() const override { return is_continued_; }
  int64_t tombstones() const override { return tombstones_.count(); }

 private:
  base::Status read(const storage::Store& store, bool with_partition_records) {
    const std::vector<Bytes> keys = record_keys(with_partition_records);
    values_.resize(keys.size());
    has_partition_records_ = with_partition_records;
    if (keys.size() != 1) return store.get_many(keys, values_);
    SIBYL_ASSIGN(const bool found, store.get(keys.front(), values_.front().emplace()));
    if (!found) values_.front().reset();
    return {};
  }

  std::vector<Bytes> record_keys(bool with_partition_records) const {
    std::vector<Bytes> keys;
    keys.reserve(plan_.keys.size() * records_per_partition(with_partition_records));
    for (const Bytes& key : plan_.keys) {
      Bytes prefix = row::partition_prefix(plan_.table->storage_id, key);
      if (!with_partition_records && plan_.rows.size() == 1) {
        keys.push_back(row::row_record_key(std::move(prefix), plan_.rows.front()));
        continue;
      }
      if (with_partition_records) keys.push_back(row::partition_record_key(prefix));
      for (const Bytes& clustering : plan_.rows) keys.push_back(row::row_record_key(prefix, clustering));
    }
    return keys;
  }

  Result<bool> is_complete() {
    for (size_t i = 0; i < values_.size(); i += plan_.rows.size() + 1) {
      if (!values_[i]) continue;
      if (!decode_selected(*values_[i], plan_, true, row_)) return base::fail(corrupt_record());
      if (row_.has_range_deletions) return false;
    }
    return true;
  }

  size_t records_per_partition(bool with_partition_records) const {
    return plan_.rows.size() + (with_partition_records ? 1 : 0);
  }
  const Bytes& key() const { return plan_.keys[static_cast<size_t>(partition_)]; }
  size_t base_index() const {
    return static_cast<size_t>(partition_) * records_per_partition(has_partition_records_);
  }
  bool is_after_position() const {
    const BytesView last = *plan_.after->clustering;
    return plan_.reversed ? clustering_ < last : clustering_ > last;
  }

  const ReadPlan& plan_;
  std::vector<std::optional<Bytes>> values_;
  bool has_partition_records_ = true;  // values_ includes them
  int64_t partition_ = -1;
  size_t next_row_ = 0;
  bool reached_ = false, is_continued_ = false;
  PartitionRecord record_;
  BytesView clustering_;
  Fragment row_;
  TombstoneCount tombstones_;
};

// --- Slices and scans

class SliceReader final : public Reader {
 public:
  // Reads from the snapshot if there is one, otherwise from the store as of the beginning of the read.
  SliceReader(const storage::Store* store, std::shared_ptr<const storage::Snapshot> snapshot,
              const ReadPlan& plan)
      : store_(store), plan_(plan), snapshot_(std::move(snapshot)) {
    if (plan_.names_rows)
      for (const Bytes& clustering : plan_.rows) named_.push_back({clustering, row::after(clustering)});
  }

  Result<bool> next_partition() override { return plan_.is_range ? next_in_range() : next_named(); }
  const Bytes& partition_key() const override { return partition_key_; }
  const Fragment& static_row() const override { return record_.fragment; }
  BytesView clustering() const override { return clustering_; }
  const Fragment& row() const override { return row_; }
  bool is_continued() const override { return is_continued_; }
  int64_t tombstones() const override { return tombstones_.count(); }

  Result<bool> next_row() override {
    while (move()) {
      row_bytes_ = iterator_->value();
      if (!decode_selected(row_bytes_, plan_, false, row_)) return base::fail(corrupt_record());
      Deletion covering = record_.deletion;
      if (!ranges_.empty()) covering = later(covering, ranges_.covering(clustering_));
      if (is_wholly_visible(row_bytes_, row_, covering, plan_)) return true;
      SIBYL_TRY(tombstones_.add(row_bytes_, row_, covering, plan_));
      if (make_visible(row_, covering, plan_)) return true;
      SIBYL_TRY(count_skipped());
    }
    SIBYL_TRY(check_end());
    return false;
  }

 private:
  // An iterator with an error is not valid. Asking for the status costs more, and is not necessary for each partition.
  base::Status check_end() const { return iterator_->valid() ? base::Status() : iterator_->status(); }

  // Polls the interrupt. There may be millions of rows under one deletion, which do not count as tombstones.
  base::Status count_skipped() {
    constexpr uint64_t steps = 64;
    if (plan_.interrupt == nullptr || ++skipped_ % steps != 0) return {};
    return plan_.interrupt->check();
  }

  const std::vector<plan::Interval>& all_intervals() const {
    return plan_.names_rows ? named_ : plan_.intervals;
  }

  // Determines the rows of the current partition that are still to be read.
  void choose_intervals() {
    intervals_ = &all_intervals();
    is_continued_ = false;
    if (plan_.after && plan_.after->clustering && partition_key_ == plan_.after->partition_key) {
      const Bytes& last = *plan_.after->clustering;
      // No clustering key is a prefix of another, so the next one is at or above the last plus a zero byte.
      const plan::Interval rest =
          plan_.reversed ? plan::Interval{Bytes(), last} : plan::Interval{last + '\0', std::nullopt};
      rest_ = plan::intersect(all_intervals(), {rest});
      intervals_ = &rest_;
      is_continued_ = true;
    }
    interval_ = 0;
    is_positioned_ = false;
  }

  const plan::Interval& current() const {
    return plan_.reversed ? (*intervals_)[intervals_->size() - 1 - interval_] : (*intervals_)[interval_];
  }

  bool in_partition() const {
    return iterator_->valid() && iterator_->key().size() > prefix_.size() &&
           iterator_->key().starts_with(prefix_);
  }
  row::RecordKind kind() const { return static_cast<row::RecordKind>(iterator_->key()[prefix_.size()]); }

  // Reads the partition's own record and its range deletions. The iterator must be on the first record of the
  // partition.
  Result<bool> load_header() {
    clear_header();
    if (in_partition() && kind() == row::RecordKind::partition) {
      if (!record_.load(iterator_->value(), plan_)) return base::fail(corrupt_record());
      // If the first row is sought anyway, there is no need to step to it.
      if (record_.has_range_deletions || starts_at_first_row()) iterator_->next();
    }
    if (record_.has_range_deletions) {
      Fragment fragment;
      Bytes begin;
      std::optional<Bytes> end;
      for (; in_partition() && kind() == row::RecordKind::range_deletion; iterator_->next()) {
        const BytesView rest = iterator_->key().substr(prefix_.size() + 1);
        if (!row::decode(iterator_->value(), fragment) || !row::decode_range_bounds(rest, begin, end))
          return base::fail(corrupt_record());
        ranges_.add(std::move(begin), std::move(end), fragment.deletion);
        SIBYL_TRY(tombstones_.add(2, plan_));  // its begin and its end
      }
      ranges_.finish();
    }
    SIBYL_TRY(check_end());
    return true;
  }

  void clear_header() {
    record_.reset();
    ranges_.clear();
  }

  bool starts_at_first_row() const {
    return !plan_.reversed && !intervals_->empty() && intervals_->front().begin.empty();
  }

  // --- Partitions by key

  Result<bool> next_named() {
    while (++named_index_ < static_cast<int64_t>(plan_.keys.size())) {
      partition_key_ = plan_.keys[static_cast<size_t>(named_index_)];
      if (plan_.after && !reached_) {
        if (partition_key_ != plan_.after->partition_key) continue;
        reached_ = true;
        if (!plan_.after->clustering) continue;
      }
      prefix_ = row::partition_prefix(plan_.table->storage_id, partition_key_);
      choose_intervals();
      open_partition();
      // Checked after the iterator was created, which fixes its moment. Without partition records, the first
      // seek goes to the first row.
      if (store_ != nullptr && !store_->may_have_partition_records(plan_.table->storage_id)) {
        clear_header();
        return true;
      }
      iterator_->seek_to_first();
      SIBYL_ASSIGN(const bool loaded, load_header());
      return loaded;
    }
    return false;
  }

  std::unique_ptr<storage::Iterator> iterate(const Bytes& begin, const Bytes& end) const {
    return snapshot_ != nullptr ? snapshot_->iterate(begin, end) : store_->iterate(begin, end);
  }

  void open_partition() {
    const Bytes begin = row::partition_record_key(prefix_);
    Bytes end = row::after(prefix_).value_or(row::table_end(plan_.table->storage_id));
    if (intervals_->empty()) end = row::row_record_key(prefix_, {});
    if (!intervals_->empty() && intervals_->back().end)
      end = row::row_record_key(prefix_, *intervals_->back().end);
    if (snapshot_ == nullptr && plan_.keys.size() > 1) snapshot_ = store_->snapshot();
    iterator_ = iterate(begin, end);
  }

  // --- Partitions by token

  Result<bool> next_in_range() {
    if (iterator_ == nullptr) {
      if (plan_.tokens.empty()) return false;
      const uint32_t table = plan_.table->storage_id;
      iterator_ =
          iterate(row::token_begin(table, plan_.tokens.first), row::token_end(table, plan_.tokens.last));
      if (plan_.after)
        seek_position(table);
      else
        iterator_->seek_to_first();
    } else if (in_partition()) {
      seek_after_partition();
    }
    SIBYL_TRY(check_end());
    if (!iterator_->valid()) return false;
    row::RecordKey parsed;
    if (!row::parse_record_key(iterator_->key(), parsed)) return base::fail(corrupt_record());
    prefix_.assign(parsed.prefix(iterator_->key()));
    if (!row::decode_partition_key(prefix_, partition_key_)) return base::fail(corrupt_record());
    choose_intervals();
    return load_header();
  }

  void seek_position(uint32_t table) {
    const Bytes prefix = row::partition_prefix(table, plan_.after->partition_key);
    if (plan_.after->clustering) {
      iterator_->seek(prefix);
    } else if (const auto next = row::after(prefix)) {
      iterator_->seek(*next);
    }
  }

  void seek_after_partition() {
    if (const auto next = row::after(prefix_)) iterator_->seek(*next);
  }

  // --- Rows

  // Moves to the next stored row within an interval. Returns false at the end of the partition.
  bool move() {
    while (interval_ < intervals_->size()) {
      if (!is_positioned_) {
        position();
        is_positioned_ = true;
      } else if (plan_.reversed) {
        iterator_->prev();
      } else {
        iterator_->next();
      }
      if (!iterator_->valid()) return false;
      const BytesView key = iterator_->key();
      if (key.size() <= prefix_.size() || !key.starts_with(prefix_)) return false;
      if (static_cast<row::RecordKind>(key[prefix_.size()]) != row::RecordKind::row) return false;
      clustering_ = key.substr(prefix_.size() + 1);
      const plan::Interval& interval = current();
      const bool is_past =
          plan_.reversed ? clustering_ < interval.begin : interval.end && clustering_ >= *interval.end;
      if (!is_past) return true;
      ++interval_;
      is_positioned_ = false;
    }
    return false;
  }

  // Moves the iterator to the first candidate of the current interval. Skips the seek if it is already there.
  void position() {
    const plan::Interval& interval = current();
    if (!plan_.reversed) {
      // Nothing lies between the previous interval (or the beginning of the partition) and this row, so it is
      // the first.
      const bool on_row = in_partition() && kind() == row::RecordKind::row;
      if (on_row && iterator_->key().substr(prefix_.size() + 1) >= interval.begin) return;
      iterator_->seek(row::row_record_key(prefix_, interval.begin));
      return;
    }
    const std::optional<Bytes> end =
        interval.end ? std::optional(row::row_record_key(prefix_, *interval.end)) : row::after(prefix_);
    if (!end) {
      iterator_->seek_to_last();
      return;
    }
    iterator_->seek_for_prev(*end);
    if (iterator_->valid() && iterator_->key() == *end) iterator_->prev();
  }

  const storage::Store* store_;
  const ReadPlan& plan_;
  std::shared_ptr<const storage::Snapshot> snapshot_;
  std::unique_ptr<storage::Iterator> iterator_;

  std::vector<plan::Interval> named_, rest_;
  const std::vector<plan::Interval>* intervals_ = nullptr;
  size_t interval_ = 0;
  bool is_positioned_ = false;

  int64_t named_index_ = -1;
  bool reached_ = false, is_continued_ = false;
  Bytes partition_key_, prefix_;
  PartitionRecord record_;
  RangeDeletions ranges_;
  BytesView clustering_, row_bytes_;
  Fragment row_;
  TombstoneCount tombstones_;
  uint64_t skipped_ = 0;  // rows skipped
};

// Up to this many single records are fetched with one get_many().
constexpr size_t max_point_reads = 128;

}  // namespace

namespace {

bool reads_points(const ReadPlan& plan) {
  return plan.names_rows && !plan.is_range && plan.keys.size() * (plan.rows.size() + 1) <= max_point_reads;
}

}  // namespace

base::Result<std::unique_ptr<Reader>> open_reader(const storage::Store& store, const ReadPlan& plan) {
  if (reads_points(plan)) {
    auto reader = std::make_unique<PointReader>(plan);
    SIBYL_ASSIGN(const bool complete, reader->load(store));
    if (complete) return reader;
  }
  return std::make_unique<SliceReader>(&store, nullptr, plan);
}

base::Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<const storage::Snapshot> snapshot,
                                                  const ReadPlan& plan) {
  if (reads_points(plan)) {
    auto reader = std::make_unique<PointReader>(plan);
    SIBYL_ASSIGN(const bool complete, reader->load(*snapshot));
    if (complete) return reader;
  }
  return std::make_unique<SliceReader>(nullptr, std::move(snapshot), plan);
}

}  // namespace sibyl::execute
