#include "row/merge.h"

#include <algorithm>

#include "base/memory.h"
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

// Trims also if memory is exhausted during the merge.
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

void merge(std::span<const BytesView> fragments, Bytes& out) {
  const base::DeferredMemoryLimit deferred;
  if (fragments.size() == 1) {
    out.assign(fragments.front());
    return;
  }
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

bool purge(Fragment& fragment, const Deletion& covering, int64_t now_seconds, int64_t gc_before_seconds,
           bool may_drop_deletion) {
  normalise(fragment);
  Marker& marker = fragment.marker;
  if (covering.covers(marker.timestamp)) marker = {};
  if (marker.exists() && !marker.is_live(now_seconds) && marker.expires_seconds < gc_before_seconds)
    marker = {};

  Deletion& deletion = fragment.deletion;
  if (covering.covers(deletion.timestamp)) deletion = {};
  if (may_drop_deletion && deletion.exists() && deletion.local_seconds < gc_before_seconds) deletion = {};

  std::erase_if(fragment.column_deletions, [&](const ColumnDeletion& each) {
    return covering.covers(each.deletion.timestamp) || each.deletion.local_seconds < gc_before_seconds;
  });
  std::erase_if(fragment.cells, [&](Cell& cell) {
    if (covering.covers(cell.timestamp)) return true;
    if (cell.is_live(now_seconds)) return false;
    cell.value = {};
    // As in Cassandra, an expired cell counts as deleted at the time when it was written.
    int64_t deleted = cell.expires_seconds;
    if (cell.kind == CellKind::expiring && __builtin_sub_overflow(deleted, cell.time_to_live, &deleted))
      return false;
    return deleted < gc_before_seconds;
  });
  return !fragment.empty();
}

}  // namespace sibyl::row
