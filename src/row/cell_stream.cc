#include "row/cell_stream.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/statement.h"
#include "row/merge.h"

namespace sibyl::row {

// --- One fragment

CellStream::CellStream(BytesView bytes) : bytes_(bytes), reader_(bytes, head_) {
  is_valid_ = reader_.read_head();
}

void CellStream::restart() {
  head_.clear();
  std::destroy_at(&reader_);
  std::construct_at(&reader_, bytes_, head_);
  has_cells_ = false;
  is_valid_ = reader_.read_head();
}

bool CellStream::next(Cell& cell) {
  if (!is_valid_) return false;
  if (reader_.at_end()) {
    is_valid_ = reader_.bases_are_owned(has_cells_ ? &first_ : nullptr);
    return false;
  }
  cell = {};
  if (!reader_.read_cell(has_cells_ ? &last_ : nullptr, cell)) {
    is_valid_ = false;
    return false;
  }
  if (!std::exchange(has_cells_, true)) first_ = cell;
  last_ = cell;
  return true;
}

bool is_fragment(BytesView bytes, size_t* cells) {
  CellStream stream(bytes);
  size_t count = 0;
  for (Cell cell; stream.next(cell);) ++count;
  if (cells != nullptr) *cells = count;
  return stream.is_valid();
}

bool decode_head(BytesView bytes, Fragment& head) {
  CellStream stream(bytes);
  head = stream.head();
  for (Cell cell; stream.next(cell);) continue;
  return stream.is_valid();
}

namespace {

// Decides for one cell after the other whether decode_columns() keeps it.
class ColumnFilter {
 public:
  explicit ColumnFilter(std::span<const uint32_t> columns) : columns_(columns) {}

  // Returns false for a cell that is needed only if it is the latest one of its column.
  bool keeps(const Cell& cell) {
    while (!columns_.empty() && columns_.front() < cell.column) columns_ = columns_.subspan(1);
    if (!columns_.empty() && columns_.front() == cell.column) return true;
    return cell.kind == CellKind::tombstone || cell.kind == CellKind::expiring;
  }

 private:
  std::span<const uint32_t> columns_;
};

void insert_sorted(const Cell& cell, std::vector<Cell>& cells) {
  cells.insert(std::upper_bound(cells.begin(), cells.end(), cell, codec::precedes), cell);
}

// The maximum number of cells that decode_columns() keeps. Returns nullopt if the bytes are not a fragment.
std::optional<size_t> count_kept(CellStream& cells, std::span<const uint32_t> columns) {
  ColumnFilter filter(columns);
  size_t kept = 0;
  std::optional<uint32_t> skipped_column;
  for (Cell cell; cells.next(cell);) {
    if (filter.keeps(cell) || skipped_column != cell.column) ++kept;
    if (!filter.keeps(cell)) skipped_column = cell.column;
  }
  return cells.is_valid() ? std::optional(kept) : std::nullopt;
}

}  // namespace

bool decode_columns(BytesView bytes, std::span<const uint32_t> columns, Fragment& fragment) {
  fragment.clear();
  base::count_work(static_cast<int64_t>(bytes.size()) * scan_nanos_per_byte);
  CellStream cells(bytes);
  const auto kept = count_kept(cells, columns);
  if (!kept) return false;
  fragment.cells.reserve(*kept);
  cells.restart();
  ColumnFilter filter(columns);
  std::optional<Cell> latest;  // the latest of one column's cells that keeps() rejects
  for (Cell cell; cells.next(cell);) {
    if (latest && latest->column != cell.column) {
      insert_sorted(*latest, fragment.cells);
      latest.reset();
    }
    if (filter.keeps(cell))
      fragment.cells.push_back(cell);
    else if (!latest || cell.timestamp > latest->timestamp)
      latest = cell;
  }
  if (latest) insert_sorted(*latest, fragment.cells);
  const Fragment& head = cells.head();
  fragment.marker = head.marker;
  fragment.deletion = head.deletion;
  fragment.has_range_deletions = head.has_range_deletions;
  fragment.original_clustering = head.original_clustering;
  fragment.column_deletions = head.column_deletions;
  return true;
}

// --- Several fragments

MergedCells::MergedCells(std::span<const BytesView> fragments) {
  for (const BytesView bytes : fragments) {
    const CellStream& cells = parts_.emplace_back(bytes).cells;
    add(cells.head(), head_);
    may_have_expiring_ |= cells.may_have_expiring();
    may_have_tombstones_ |= cells.may_have_tombstones();
  }
  normalise(head_);
}

void MergedCells::restart() {
  next_deletion_ = 0;
  heap_.clear();
  for (Part& part : parts_) {
    part.cells.restart();
    if (part.cells.next(part.cell)) heap_.push_back(&part);
  }
  for (size_t at = heap_.size() / 2; at-- > 0;) sift_down(at);
}

// If the same part keeps having the smallest cell, as with a list that was appended to, this compares it with
// two others only.
void MergedCells::sift_down(size_t at) {
  Part* const part = heap_[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && codec::precedes(heap_[child + 1]->cell, heap_[child]->cell)) ++child;
    if (!codec::precedes(heap_[child]->cell, part->cell)) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = part;
}

void MergedCells::advance_first() {
  Part& first = *heap_.front();
  if (!first.cells.next(first.cell)) {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  if (!heap_.empty()) sift_down(0);
}

bool MergedCells::next(Cell& cell) {
  while (!heap_.empty()) {
    cell = heap_.front()->cell;
    advance_first();
    while (!heap_.empty() && !codec::precedes(cell, heap_.front()->cell)) {
      cell = reconcile(cell, heap_.front()->cell);
      advance_first();
    }
    if (!is_covered(cell)) return true;
  }
  return false;
}

// The winner of several cells is the latest. If the winner is covered, so are the other cells.
bool MergedCells::is_covered(const Cell& cell) {
  if (head_.deletion.covers(cell.timestamp)) return true;
  const auto& deletions = head_.column_deletions;
  while (next_deletion_ < deletions.size() && deletions[next_deletion_].column < cell.column)
    ++next_deletion_;
  return next_deletion_ < deletions.size() && deletions[next_deletion_].column == cell.column &&
         deletions[next_deletion_].deletion.covers(cell.timestamp);
}

}  // namespace sibyl::row
