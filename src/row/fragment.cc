#include "row/fragment.h"

#include <algorithm>

#include "base/memory.h"
#include "base/statement.h"
#include "row/cell_stream.h"
#include "row/fragment_codec.h"
#include "row/merge.h"
#include "row/varint.h"

namespace sibyl::row {
namespace {

using codec::Base;
using codec::precedes;

Base base_of(const Fragment& fragment) {
  Base base(fragment, fragment.cells.empty() ? nullptr : &fragment.cells.front());
  for (const Cell& cell : fragment.cells) base.add(cell);
  return base;
}

template <typename Writer>
void write_fragment(const Fragment& fragment, const Base& base, Writer& writer) {
  codec::write_head(fragment, base, writer);
  int64_t previous = -1;
  for (const Cell& cell : fragment.cells) {
    codec::write_cell(cell, static_cast<uint64_t>(cell.column - previous), base, writer);
    previous = cell.column;
  }
}

// An upper bound that is fast to compute, but up to 64 bytes too large for each cell. Large fragments are
// measured instead.
size_t size_bound(const Fragment& fragment, const Base& base) {
  constexpr size_t max_bounded_cells = 256;
  if (fragment.cells.size() > max_bounded_cells) {
    codec::SizeCounter size;
    write_fragment(fragment, base, size);
    return size.size();
  }
  size_t bound = 64 + 2 * max_varint_size + fragment.original_clustering.size();
  bound += fragment.column_deletions.size() * 3 * max_varint_size;
  for (const Cell& cell : fragment.cells)
    bound += 64 + cell.path.size() + cell.original_path.size() + cell.value.size();
  return bound;
}

bool is_normal(const Fragment& fragment) {
  if (fragment.marker.exists() && fragment.deletion.covers(fragment.marker.timestamp)) return false;
  const auto& deletions = fragment.column_deletions;
  for (size_t i = 0; i < deletions.size(); ++i) {
    if (i > 0 && deletions[i - 1].column >= deletions[i].column) return false;
    if (!deletions[i].deletion.exists() || fragment.deletion.covers(deletions[i].deletion.timestamp))
      return false;
  }
  size_t next = 0;
  for (size_t i = 0; i < fragment.cells.size(); ++i) {
    const Cell& cell = fragment.cells[i];
    if (i > 0 && !precedes(fragment.cells[i - 1], cell)) return false;
    if (fragment.deletion.covers(cell.timestamp)) return false;
    while (next < deletions.size() && deletions[next].column < cell.column) ++next;
    if (next < deletions.size() && deletions[next].column == cell.column &&
        deletions[next].deletion.covers(cell.timestamp))
      return false;
  }
  return true;
}

void normalise_column_deletions(Fragment& fragment) {
  auto& deletions = fragment.column_deletions;
  std::erase_if(deletions, [&](const ColumnDeletion& each) {
    return !each.deletion.exists() || fragment.deletion.covers(each.deletion.timestamp);
  });
  std::sort(deletions.begin(), deletions.end(), [](const ColumnDeletion& left, const ColumnDeletion& right) {
    return left.column < right.column;
  });
  size_t kept = 0;
  for (size_t i = 0; i < deletions.size(); ++i) {
    if (kept > 0 && deletions[kept - 1].column == deletions[i].column)
      deletions[kept - 1].deletion = reconcile(deletions[kept - 1].deletion, deletions[i].deletion);
    else
      deletions[kept++] = deletions[i];
  }
  deletions.resize(kept);
}

void normalise_cells(Fragment& fragment) {
  auto& cells = fragment.cells;
  if (!std::is_sorted(cells.begin(), cells.end(), precedes)) std::sort(cells.begin(), cells.end(), precedes);
  const auto& deletions = fragment.column_deletions;
  size_t kept = 0;
  size_t next = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (fragment.deletion.covers(cells[i].timestamp)) continue;
    while (next < deletions.size() && deletions[next].column < cells[i].column) ++next;
    if (next < deletions.size() && deletions[next].column == cells[i].column &&
        deletions[next].deletion.covers(cells[i].timestamp))
      continue;
    if (kept > 0 && !precedes(cells[kept - 1], cells[i])) {
      cells[kept - 1] = reconcile(cells[kept - 1], cells[i]);
    } else {
      if (kept != i) cells[kept] = cells[i];
      ++kept;
    }
  }
  cells.resize(kept);
}

// A vector that grows would hold up to three times the memory of the cells for a moment. Returns false if the
// bytes are not a fragment.
bool reserve_cells(BytesView bytes, Fragment& fragment) {
  base::count_work(static_cast<int64_t>(bytes.size()) * scan_nanos_per_byte);
  size_t cells = 0;
  if (!is_fragment(bytes, &cells)) return false;
  fragment.cells.reserve(cells);
  return true;
}

}  // namespace

void normalise(Fragment& fragment) {
  if (is_normal(fragment)) return;
  const base::DeferredMemoryLimit deferred;
  if (fragment.deletion.covers(fragment.marker.timestamp)) fragment.marker = {};
  normalise_column_deletions(fragment);
  normalise_cells(fragment);
}

void encode(Fragment& fragment, Bytes& out) {
  const base::DeferredMemoryLimit deferred;
  normalise(fragment);
  const Base base = base_of(fragment);
  out.resize_and_overwrite(size_bound(fragment, base), [&](char* buffer, size_t) {
    RawWriter writer(buffer);
    write_fragment(fragment, base, writer);
    return static_cast<size_t>(writer.at() - buffer);
  });
}

bool decode(BytesView bytes, Fragment& fragment) {
  fragment.clear();
  if (bytes.size() >= min_streamed_bytes && !reserve_cells(bytes, fragment)) return false;
  const base::DeferredMemoryLimit deferred;
  codec::FragmentReader reader(bytes, fragment);
  if (!reader.read_head()) return false;
  std::vector<Cell>& cells = fragment.cells;
  if (!reader.at_end()) cells.reserve(std::min<size_t>(reader.left() / 2, 8));
  while (!reader.at_end()) {
    Cell& cell = cells.emplace_back();
    if (!reader.read_cell(&cell == cells.data() ? nullptr : &cell - 1, cell)) return false;
  }
  return reader.bases_are_owned(cells.empty() ? nullptr : &cells.front());
}

bool is_perishable(BytesView bytes) noexcept {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes[0]) != fragment_version) return false;
  constexpr uint8_t timed = codec::has_range_flag | codec::has_expiry | codec::has_local;
  return (static_cast<uint8_t>(bytes[1]) & timed) != 0;
}

bool visible_at(Fragment& fragment, const Deletion& covering, int64_t now_seconds) {
  normalise(fragment);
  if (covering.covers(fragment.marker.timestamp) || !fragment.marker.is_live(now_seconds))
    fragment.marker = {};
  fragment.deletion = {};
  fragment.column_deletions.clear();
  std::erase_if(fragment.cells, [&](const Cell& cell) {
    return covering.covers(cell.timestamp) || !cell.is_live(now_seconds);
  });
  return fragment.marker.exists() || !fragment.cells.empty();
}

}  // namespace sibyl::row
