// Streams the cells of large fragments one at a time, so that merging or purging needs memory for the encoded
// bytes only. A decoded cell takes 80 bytes; an encoded element of a set of numbers takes five.
//
// A stream of cells has the functions of CellStream below. encode_stream() reads it up to three times: for
// the base values, for the size, and to write.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "row/fragment_codec.h"

namespace sibyl::row {

// Fragments with fewer bytes are decoded as a whole, which is faster.
inline constexpr size_t min_streamed_bytes = 64 << 10;

// Estimates the time to read all cells, for base::count_work().
inline constexpr int64_t scan_nanos_per_byte = 2;

// The cells of one fragment. The views of cells point into its bytes.
class CellStream {
 public:
  explicit CellStream(BytesView bytes);
  CellStream(const CellStream&) = delete;
  CellStream& operator=(const CellStream&) = delete;

  // Everything except the cells.
  const Fragment& head() const { return head_; }
  bool may_have_expiring() const { return reader_.may_have_expiring(); }
  bool may_have_tombstones() const { return reader_.may_have_tombstones(); }

  // Returns to the first cell.
  void restart();
  // Returns false after the last cell, and if the bytes are not a fragment.
  bool next(Cell& cell);
  // True if the bytes are a fragment. Known after next() has returned false.
  bool is_valid() const { return is_valid_; }

 private:
  const BytesView bytes_;
  Fragment head_;
  codec::FragmentReader reader_;
  Cell first_, last_;
  bool is_valid_ = false;
  bool has_cells_ = false;
};

// Returns true for the bytes that decode() accepts. Counts the cells.
bool is_fragment(BytesView bytes, size_t* cells = nullptr);

// Like decode(), but does not store cells.
bool decode_head(BytesView bytes, Fragment& head);

// Like decode(), for a reader that needs only the cells of these columns (sorted ids). Of the other columns,
// only tombstones, expiring cells and the latest of the remaining cells are kept. With these cells, the
// reader finds the same as with all cells: whether the row exists, and how many tombstones it has, whatever
// deletion covers it. The cells are counted first and their memory is allocated at once, as in decode().
bool decode_columns(BytesView bytes, std::span<const uint32_t> columns, Fragment& fragment);

// The cells of the merge of several fragments.
class MergedCells {
 public:
  // REQUIRES: all are fragments. There is at least one.
  explicit MergedCells(std::span<const BytesView> fragments);

  // Everything except the cells, normalised.
  const Fragment& head() const { return head_; }
  bool may_have_expiring() const { return may_have_expiring_; }
  bool may_have_tombstones() const { return may_have_tombstones_; }

  void restart();
  bool next(Cell& cell);

 private:
  struct Part {
    explicit Part(BytesView bytes) : cells(bytes) {}
    CellStream cells;
    Cell cell;  // the next one
  };
  void advance_first();
  void sift_down(size_t at);
  bool is_covered(const Cell& cell);

  std::deque<Part> parts_;
  std::vector<Part*> heap_;  // a heap of the parts that have a cell; the first cell is at the front
  Fragment head_;
  size_t next_deletion_ = 0;
  bool may_have_expiring_ = false, may_have_tombstones_ = false;
};

namespace codec {

template <typename Cells>
Base find_base(const Fragment& head, Cells& cells) {
  cells.restart();
  Cell cell;
  bool has_cell = cells.next(cell);
  Base base(head, has_cell ? &cell : nullptr);
  const auto is_complete = [&] {
    return (!cells.may_have_expiring() || (base.flags & has_expiry)) &&
           (!cells.may_have_tombstones() || (base.flags & has_local));
  };
  for (; has_cell && !is_complete(); has_cell = cells.next(cell)) base.add(cell);
  return base;
}

template <typename Cells, typename Writer>
void write_stream(const Fragment& head, const Base& base, Cells& cells, Writer& writer) {
  write_head(head, base, writer);
  cells.restart();
  int64_t previous = -1;
  for (Cell cell; cells.next(cell); previous = cell.column)
    write_cell(cell, static_cast<uint64_t>(cell.column - previous), base, writer);
}

}  // namespace codec

// Replaces `out` with the encoding of a fragment with this head and these cells. REQUIRES: both are
// normalised.
template <typename Cells>
void encode_stream(const Fragment& head, Cells& cells, Bytes& out) {
  const codec::Base base = codec::find_base(head, cells);
  codec::SizeCounter size;
  codec::write_stream(head, base, cells, size);
  out.resize_and_overwrite(size.size(), [&](char* buffer, size_t) {
    RawWriter writer(buffer);
    codec::write_stream(head, base, cells, writer);
    return static_cast<size_t>(writer.at() - buffer);
  });
}

}  // namespace sibyl::row
