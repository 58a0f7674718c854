#include "row/merge.h"

#include <algorithm>

#include "base/memory.h"
#include "row/cell_stream.h"
#include "row/counter.h"

namespace sibyl::row {
namespace {

template <typename Value>
int order(const Value& left, const Value& right) {
  return left < right ? -1 : left == right ? 0 : 1;
}
int order(BytesView left, BytesView right) {
  return left.compare(right);
}

// On equal timestamps a tombstone wins over an expiring cell, and an expiring cell over a plain one. A
// counter never occurs with the first two kinds in one column, but the order must be total.
int rank(CellKind kind) {
  switch (kind) {
    case CellKind::live:
      return 0;
    case CellKind::counter:
      return 1;
    case CellKind::expiring:
      return 2;
    case CellKind::tombstone:
      return 3;
  }
  return 0;
}

int order_counters(BytesView left, BytesView right) {
  CounterValue left_counter;
  CounterValue right_counter;
  const bool left_valid = decode_counter(left, left_counter);
  const bool right_valid = decode_counter(right, right_counter);
  if (left_valid != right_valid) return left_valid ? 1 : -1;
  if (!left_valid) return order(left, right);
  if (const int by_clock = order(left_counter.clock, right_counter.clock); by_clock != 0) return by_clock;
  return order(left_counter.value, right_counter.value);
}

// Orders cells by everything that is encoded of them, so the maximum of two cells is a valid merge.
int order_cells(const Cell& left, const Cell& right) {
  if (left.timestamp != right.timestamp) return order(left.timestamp, right.timestamp);
  if (left.kind != right.kind) return order(rank(left.kind), rank(right.kind));
  int result = 0;
  switch (left.kind) {
    case CellKind::live:
      result = order(left.value, right.value);
      break;
    case CellKind::counter:
      result = order_counters(left.value, right.value);
      break;
    case CellKind::expiring:
      result = order(left.expires_seconds, right.expires_seconds);
      if (result == 0) result = order(left.value, right.value);
      if (result == 0) result = order(left.time_to_live, right.time_to_live);
      break;
    case CellKind::tombstone:
      result = order(left.expires_seconds, right.expires_seconds);
      break;
  }
  return result != 0 ? result : order(left.original_path, right.original_path);
}

int order_markers(const Marker& left, const Marker& right) {
  if (left.timestamp != right.timestamp) return order(left.timestamp, right.timestamp);
  const bool left_expires = left.time_to_live != 0;
  const bool right_expires = right.time_to_live != 0;
  if (left_expires != right_expires) return left_expires ? 1 : -1;
  if (!left_expires) return 0;
  if (left.expires_seconds != right.expires_seconds)
    return order(left.expires_seconds, right.expires_seconds);
  return order(left.time_to_live, right.time_to_live);
}

// Fragments whose vectors are reused by all merges of a thread.
struct Scratch {
  Fragment merged;
  Fragment next;

  void trim() {
    constexpr size_t kept_cells = 4096;
    for (Fragment* each : {&merged, &next}) {
      if (each->cells.capacity() > kept_cells) std::vector<Cell>().swap(each->cells);
      if (each->column_deletions.capacity() > kept_cells)
        std::vector<ColumnDeletion>().swap(each->column_deletions);
    }
  }
};

// Trims the vectors even if memory is exhausted during the merge.
struct TrimAtEnd {
  Scratch& scratch;
  ~TrimAtEnd() { scratch.trim(); }
};

}  // namespace

void add(const Fragment& from, Fragment& into) {
  into.marker = reconcile(into.marker, from.marker);
  into.deletion = reconcile(into.deletion, from.deletion);
  into.has_range_deletions |= from.has_range_deletions;
  into.original_clustering = std::max(into.original_clustering, from.original_clustering);
  into.column_deletions.insert(into.column_deletions.end(), from.column_deletions.begin(),
                               from.column_deletions.end());
  into.cells.insert(into.cells.end(), from.cells.begin(), from.cells.end());
}

const Cell& reconcile(const Cell& left, const Cell& right) noexcept {
  return order_cells(left, right) >= 0 ? left : right;
}

const Deletion& reconcile(const Deletion& left, const Deletion& right) noexcept {
  if (left.timestamp != right.timestamp) return left.timestamp > right.timestamp ? left : right;
  return left.local_seconds >= right.local_seconds ? left : right;
}

const Marker& reconcile(const Marker& left, const Marker& right) noexcept {
  return order_markers(left, right) >= 0 ? left : right;
}

namespace {

// Merges by decoding all fragments. If none of them is valid, `out` is not a fragment either.
void merge_decoded(std::span<const BytesView> fragments, Bytes& out) {
  thread_local Scratch scratch;
  const TrimAtEnd trim{scratch};
  bool some_valid = false;
  BytesView largest_invalid;
  for (const BytesView bytes : fragments) {
    // The first valid fragment is decoded in place; the others are added to it.
    Fragment& target = some_valid ? scratch.next : scratch.merged;
    if (!decode(bytes, target)) {
      largest_invalid = std::max(largest_invalid, bytes);
      continue;
    }
    if (some_valid) add(scratch.next, scratch.merged);
    some_valid = true;
  }
  if (some_valid)
    encode(scratch.merged, out);
  else
    out.assign(largest_invalid);
}

// Collects the parts of a streamed merge. Small fragments are merged with their neighbours first, because
// each part has a stream of a few hundred bytes.
class StreamedParts {
 public:
  explicit StreamedParts(size_t min_part_bytes) : min_part_bytes_(min_part_bytes) {}

  void add(BytesView bytes) {
    if (bytes.size() >= min_part_bytes_) return add_part(bytes);
    group_.push_back(bytes);
    group_bytes_ += bytes.size();
    if (group_bytes_ >= min_streamed_bytes) end_group();
  }

  void end_group() {
    if (group_.size() == 1) add_part(group_.front());
    if (group_.size() > 1) {
      Bytes& merged = merged_groups_.emplace_back();
      merge_decoded(group_, merged);
      merged.shrink_to_fit();  // shrink, because it was allocated for the worst case
      add_part(merged);
    }
    group_.clear();
    group_bytes_ = 0;
  }

  const std::vector<BytesView>& valid() const { return valid_; }
  BytesView largest_invalid() const { return largest_invalid_; }

 private:
  void add_part(BytesView bytes) {
    if (is_fragment(bytes))
      valid_.push_back(bytes);
    else
      largest_invalid_ = std::max(largest_invalid_, bytes);
  }

  const size_t min_part_bytes_;
  std::vector<BytesView> group_;
  size_t group_bytes_ = 0;
  std::deque<Bytes> merged_groups_;
  std::vector<BytesView> valid_;
  BytesView largest_invalid_;
};

}  // namespace

void merge_streamed(std::span<const BytesView> fragments, size_t min_part_bytes, Bytes& out) {
  StreamedParts parts(min_part_bytes);
  for (const BytesView bytes : fragments) parts.add(bytes);
  parts.end_group();
  if (parts.valid().empty()) {
    out.assign(parts.largest_invalid());
  } else if (parts.valid().size() == 1) {
    out.assign(parts.valid().front());
  } else {
    MergedCells cells(parts.valid());
    encode_stream(cells.head(), cells, out);
  }
}

void merge(std::span<const BytesView> fragments, Bytes& out) {
  const base::DeferredMemoryLimit deferred;
  if (fragments.size() == 1) {
    out.assign(fragments.front());
    return;
  }
  size_t bytes = 0;
  for (const BytesView each : fragments) bytes += each.size();
  if (bytes < min_streamed_bytes)
    merge_decoded(fragments, out);
  else
    merge_streamed(fragments, min_part_bytes, out);
}

namespace {

// Does the same as purge_cell(), for the marker and the deletions.
void purge_head(Fragment& fragment, const PurgeRules& rules) {
  const Deletion& covering = rules.covering;
  Marker& marker = fragment.marker;
  if (covering.covers(marker.timestamp)) marker = {};
  if (marker.exists() && !marker.is_live(rules.now_seconds) &&
      marker.expires_seconds < rules.gc_before_seconds)
    marker = {};

  Deletion& deletion = fragment.deletion;
  if (covering.covers(deletion.timestamp)) deletion = {};
  if (rules.may_drop_deletion && deletion.exists() && deletion.local_seconds < rules.gc_before_seconds)
    deletion = {};

  std::erase_if(fragment.column_deletions, [&](const ColumnDeletion& each) {
    return covering.covers(each.deletion.timestamp) || each.deletion.local_seconds < rules.gc_before_seconds;
  });
}

// Returns true if the cell must be dropped. If the cell has expired, removes its value.
bool purge_cell(Cell& cell, const PurgeRules& rules) {
  if (rules.covering.covers(cell.timestamp)) return true;
  if (cell.is_live(rules.now_seconds)) return false;
  cell.value = {};
  return is_forgettable(cell, rules.now_seconds, rules.gc_before_seconds);
}

class PurgedCells {
 public:
  PurgedCells(BytesView bytes, const PurgeRules& rules) : cells_(bytes), rules_(rules) {}

  const Fragment& original_head() const { return cells_.head(); }
  bool may_have_expiring() const { return cells_.may_have_expiring(); }
  bool may_have_tombstones() const { return cells_.may_have_tombstones(); }
  void restart() { cells_.restart(); }
  bool next(Cell& cell) {
    while (cells_.next(cell)) {
      const size_t value_bytes = cell.value.size();
      const bool is_dropped = purge_cell(cell, rules_);
      is_changed_ |= is_dropped || cell.value.size() != value_bytes;
      if (!is_dropped) return true;
    }
    return false;
  }
  // True if a cell was dropped or changed so far.
  bool is_changed() const { return is_changed_; }

 private:
  CellStream cells_;
  const PurgeRules& rules_;
  bool is_changed_ = false;
};

}  // namespace

// As in Cassandra, an expired cell counts as deleted at the time when it was written.
bool is_forgettable(const Cell& cell, int64_t now_seconds, int64_t gc_before_seconds) {
  if (cell.is_live(now_seconds)) return false;
  int64_t deleted = cell.expires_seconds;
  if (cell.kind == CellKind::expiring && __builtin_sub_overflow(deleted, cell.time_to_live, &deleted))
    return false;
  return deleted < gc_before_seconds;
}

bool purge(Fragment& fragment, const PurgeRules& rules) {
  normalise(fragment);
  purge_head(fragment, rules);
  std::erase_if(fragment.cells, [&](Cell& cell) { return purge_cell(cell, rules); });
  return !fragment.empty();
}

Purged purge_streamed(BytesView bytes, Fragment& head, const PurgeRules& rules, Bytes& out) {
  purge_head(head, rules);
  PurgedCells cells(bytes, rules);
  bool is_empty = head.empty();
  Cell cell;
  while (cells.next(cell)) is_empty = false;
  if (is_empty) return Purged::removed;
  const Fragment& original = cells.original_head();
  const bool same_head = head.marker.exists() == original.marker.exists() &&
                         head.deletion.exists() == original.deletion.exists() &&
                         head.has_range_deletions == original.has_range_deletions &&
                         head.column_deletions.size() == original.column_deletions.size();
  if (same_head && !cells.is_changed()) return Purged::unchanged;
  encode_stream(head, cells, out);
  return Purged::changed;
}

}  // namespace sibyl::row
