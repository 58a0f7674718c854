// Reads and writes the parts of an encoded fragment: its head, then one cell after the other. Internal to
// src/row.
//
// fragment.h describes fragments, docs/storage-format.md their bytes. Code that must not hold all cells of a
// large fragment in memory (cell_stream.h) uses these parts directly.
#pragma once

#include <algorithm>
#include <limits>

#include "row/fragment.h"
#include "row/varint.h"

namespace sibyl::row::codec {

// Flags of a fragment, in its second byte.
inline constexpr uint8_t has_marker = 0x01;
inline constexpr uint8_t has_deletion = 0x02;
inline constexpr uint8_t has_range_flag = 0x04;
inline constexpr uint8_t has_clustering = 0x08;
inline constexpr uint8_t has_column_deletions = 0x10;
inline constexpr uint8_t marker_expires = 0x20;
// base TTL and expiry: those of the marker, else of the first expiring cell
inline constexpr uint8_t has_expiry = 0x40;
// Base local time: that of the deletion, else of the first column deletion, else of the first tombstone.
inline constexpr uint8_t has_local = 0x80;

// Flags of a cell, in its first byte. The two lowest bits are its kind.
inline constexpr uint8_t kind_bits = 0x03;
inline constexpr uint8_t base_timestamp_bit = 0x04;
// Uses the base expiry (an expiring cell) or the base local time (a tombstone).
inline constexpr uint8_t base_time_bit = 0x08;
inline constexpr uint8_t path_bit = 0x10;
inline constexpr uint8_t original_path_bit = 0x20;
inline constexpr uint8_t next_column_bit = 0x40;
inline constexpr uint8_t same_column_bit = 0x80;

// Flags of a column deletion, in the bits below the column's distance.
inline constexpr uint64_t deletion_base_timestamp = 2;
inline constexpr uint64_t deletion_base_local = 1;

// Distances wrap around on overflow, so they are defined for every pair of numbers.
inline int64_t distance(int64_t from, int64_t to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}
inline int64_t advance(int64_t from, int64_t by) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + static_cast<uint64_t>(by));
}

// Returns true if `left` is before `right` in a fragment.
inline bool precedes(const Cell& left, const Cell& right) {
  if (left.column != right.column) return left.column < right.column;
  return left.path < right.path;
}

// Values shared by most items of a fragment, which are written only once.
struct Base {
  uint8_t flags = 0;
  bool timed = false;  // at least one item has a timestamp
  int64_t timestamp = 0;
  int32_t time_to_live = 0;
  int64_t expires_seconds = 0;
  int64_t local_seconds = 0;

  // The values that the marker, the deletions and the first cell (null: there are no cells) determine.
  // Afterwards each cell must be added, in order.
  Base() = default;
  Base(const Fragment& head, const Cell* first_cell);

  void add(const Cell& cell) {
    if (cell.kind == CellKind::expiring) take_expiry(cell.time_to_live, cell.expires_seconds);
    if (cell.kind == CellKind::tombstone) take_local(cell.expires_seconds);
  }

 private:
  void take_timestamp(int64_t value) {
    if (!timed) timestamp = value;
    timed = true;
  }
  void take_expiry(int32_t ttl, int64_t expires) {
    if (flags & has_expiry) return;
    flags |= has_expiry;
    time_to_live = ttl;
    expires_seconds = expires;
  }
  void take_local(int64_t local) {
    if (flags & has_local) return;
    flags |= has_local;
    local_seconds = local;
  }
};

[[gnu::always_inline]] inline Base::Base(const Fragment& head, const Cell* first_cell) {
  if (head.marker.exists()) {
    flags |= has_marker;
    take_timestamp(head.marker.timestamp);
    if (head.marker.time_to_live != 0) {
      flags |= marker_expires;
      take_expiry(head.marker.time_to_live, head.marker.expires_seconds);
    }
  }
  if (first_cell != nullptr) take_timestamp(first_cell->timestamp);
  if (head.deletion.exists()) {
    flags |= has_deletion;
    take_timestamp(head.deletion.timestamp);
    take_local(head.deletion.local_seconds);
  }
  if (!head.column_deletions.empty()) {
    const Deletion& first = head.column_deletions.front().deletion;
    flags |= has_column_deletions;
    take_timestamp(first.timestamp);
    take_local(first.local_seconds);
  }
  if (head.has_range_deletions) flags |= has_range_flag;
  if (!head.original_clustering.empty()) flags |= has_clustering;
}

// --- Writing. `Writer` is RawWriter or SizeCounter.

// Has the interface of RawWriter and counts the bytes.
class SizeCounter {
 public:
  void byte(uint8_t) { ++size_; }
  void varint(uint64_t value) { size_ += varint_size(value); }
  void signed_varint(int64_t value) { varint(to_zigzag(value)); }
  void big_endian(uint64_t) { size_ += 8; }
  void sized(BytesView bytes) {
    varint(bytes.size());
    size_ += bytes.size();
  }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

template <typename Writer>
void write_column_deletions(const Fragment& fragment, const Base& base, Writer& writer) {
  writer.varint(fragment.column_deletions.size());
  uint32_t previous = std::numeric_limits<uint32_t>::max();
  for (const auto& [column, deletion] : fragment.column_deletions) {
    uint64_t head = static_cast<uint64_t>(column - previous - 1) << 2;
    if (deletion.timestamp == base.timestamp) head |= deletion_base_timestamp;
    if (deletion.local_seconds == base.local_seconds) head |= deletion_base_local;
    writer.varint(head);
    if (!(head & deletion_base_timestamp)) writer.signed_varint(distance(base.timestamp, deletion.timestamp));
    if (!(head & deletion_base_local))
      writer.signed_varint(distance(base.local_seconds, deletion.local_seconds));
    previous = column;
  }
}

// Writes everything before the cells.
template <typename Writer>
[[gnu::always_inline]] inline void write_head(const Fragment& fragment, const Base& base, Writer& writer) {
  writer.byte(fragment_version);
  writer.byte(base.flags);
  if (base.flags & has_clustering) writer.sized(fragment.original_clustering);
  if (!base.timed) return;
  writer.big_endian(static_cast<uint64_t>(base.timestamp));
  if (base.flags & has_expiry) {
    writer.varint(static_cast<uint32_t>(base.time_to_live));
    writer.signed_varint(base.expires_seconds);
  }
  if (base.flags & has_local) writer.signed_varint(base.local_seconds);
  // A marker or cell next to the deletion is later than it, so the distance is not negative.
  if (base.flags & has_deletion)
    writer.varint(static_cast<uint64_t>(distance(fragment.deletion.timestamp, base.timestamp)));
  if (base.flags & has_column_deletions) write_column_deletions(fragment, base, writer);
}

inline bool has_base_time(const Cell& cell, const Base& base) {
  if (cell.kind == CellKind::expiring)
    return cell.time_to_live == base.time_to_live && cell.expires_seconds == base.expires_seconds;
  return cell.kind == CellKind::tombstone && cell.expires_seconds == base.local_seconds;
}

template <typename Writer>
[[gnu::always_inline]] inline void write_cell(const Cell& cell, uint64_t column_distance, const Base& base,
                                              Writer& writer) {
  auto head = static_cast<uint8_t>(cell.kind);
  if (cell.timestamp == base.timestamp) head |= base_timestamp_bit;
  if (has_base_time(cell, base)) head |= base_time_bit;
  if (!cell.path.empty()) head |= path_bit;
  if (!cell.original_path.empty()) head |= original_path_bit;
  if (column_distance == 0) head |= same_column_bit;
  if (column_distance == 1) head |= next_column_bit;
  writer.byte(head);
  if (column_distance > 1) writer.varint(column_distance);
  if (!(head & base_timestamp_bit)) writer.signed_varint(distance(base.timestamp, cell.timestamp));
  if (!(head & base_time_bit)) {
    if (cell.kind == CellKind::expiring) {
      writer.varint(static_cast<uint32_t>(cell.time_to_live));
      writer.signed_varint(distance(base.expires_seconds, cell.expires_seconds));
    } else if (cell.kind == CellKind::tombstone) {
      writer.signed_varint(distance(base.local_seconds, cell.expires_seconds));
    }
  }
  if (head & path_bit) writer.sized(cell.path);
  if (head & original_path_bit) writer.sized(cell.original_path);
  if (cell.kind != CellKind::tombstone) writer.sized(cell.value);
}

// --- Reading

// Reads a fragment and rejects everything that the functions above would have written differently. Every
// function returns false for such bytes; then the reader must not be used further.
class FragmentReader {
 public:
  // Stores everything except the cells in `head`, which must be clear.
  FragmentReader(BytesView bytes, Fragment& head) : reader_(bytes), head_(head) {}

  [[gnu::always_inline]] bool read_head() {
    uint8_t version = 0;
    if (!reader_.byte(version) || version != fragment_version || !reader_.byte(base_.flags)) return false;
    head_.has_range_deletions = (base_.flags & has_range_flag) != 0;
    if (base_.flags & has_clustering) {
      if (!reader_.sized(head_.original_clustering) || head_.original_clustering.empty()) return false;
    }
    if (reader_.at_end()) {
      is_untimed_ = true;
      return (base_.flags & ~(has_range_flag | has_clustering)) == 0;
    }
    if (!read_base() || !read_marker() || !read_deletion()) return false;
    return !(base_.flags & has_column_deletions) || read_column_deletions();
  }

  // True after the last cell.
  bool at_end() const { return reader_.at_end(); }
  size_t left() const { return reader_.left(); }
  bool may_have_expiring() const { return (base_.flags & has_expiry) != 0; }
  bool may_have_tombstones() const { return (base_.flags & has_local) != 0; }

  // Reads the next cell into `cell`, which must be new. `previous` is the one before it; null for the first.
  [[gnu::always_inline]] bool read_cell(const Cell* previous, Cell& cell) {
    uint8_t head = 0;
    if (!reader_.byte(head)) return false;
    cell.kind = static_cast<CellKind>(head & kind_bits);
    cell.timestamp = base_.timestamp;
    if (!read_column(head, previous, cell)) return false;
    if (!(head & base_timestamp_bit) && !read_other(cell.timestamp)) return false;
    if (!read_time(head, cell)) return false;
    if ((head & path_bit) && !read_filled(cell.path)) return false;
    if ((head & original_path_bit) && !read_filled(cell.original_path)) return false;
    if (cell.kind != CellKind::tombstone && !reader_.sized(cell.value)) return false;
    if ((head & same_column_bit) && !(previous->path < cell.path)) return false;
    return !(base_.flags & (has_deletion | has_column_deletions)) || !is_covered(cell);
  }

  // Checks after the last cell that every base equals the number of the item that it must be taken from.
  // `first_cell` is null if there was none.
  [[gnu::always_inline]] bool bases_are_owned(const Cell* first_cell) const {
    if (is_untimed_) return true;
    if ((base_.flags & has_expiry) && !expiry_owned_) return false;
    if ((base_.flags & has_local) && !local_owned_) return false;
    if (head_.marker.exists()) return true;
    if (first_cell != nullptr) return first_cell->timestamp == base_.timestamp;
    if (head_.deletion.exists()) return head_.deletion.timestamp == base_.timestamp;
    return !head_.column_deletions.empty() &&
           head_.column_deletions.front().deletion.timestamp == base_.timestamp;
  }

 private:
  bool read_base() {
    uint64_t timestamp = 0;
    if (!reader_.big_endian(timestamp)) return false;
    base_.timestamp = static_cast<int64_t>(timestamp);
    if ((base_.flags & has_expiry) &&
        !(read_time_to_live(base_.time_to_live) && reader_.signed_varint(base_.expires_seconds)))
      return false;
    return !(base_.flags & has_local) || reader_.signed_varint(base_.local_seconds);
  }

  bool read_time_to_live(int32_t& time_to_live) {
    uint64_t raw = 0;
    if (!reader_.varint(raw) || raw > std::numeric_limits<uint32_t>::max()) return false;
    time_to_live = static_cast<int32_t>(static_cast<uint32_t>(raw));
    return true;
  }

  bool read_marker() {
    if (!(base_.flags & has_marker)) return !(base_.flags & marker_expires);
    head_.marker.timestamp = base_.timestamp;
    if (base_.flags & marker_expires) {
      if (!(base_.flags & has_expiry) || base_.time_to_live == 0) return false;
      head_.marker.time_to_live = base_.time_to_live;
      head_.marker.expires_seconds = base_.expires_seconds;
      expiry_owned_ = true;
    }
    return head_.marker.exists();
  }

  bool read_deletion() {
    if (!(base_.flags & has_deletion)) return true;
    uint64_t before = 0;
    if (!(base_.flags & has_local) || !reader_.varint(before)) return false;
    head_.deletion = {distance(static_cast<int64_t>(before), base_.timestamp), base_.local_seconds};
    local_owned_ = true;
    if (!head_.deletion.exists()) return false;
    return !head_.marker.exists() || !head_.deletion.covers(head_.marker.timestamp);
  }

  bool read_column_deletions() {
    uint64_t count = 0;
    if (!(base_.flags & has_local) || !reader_.varint(count) || count == 0 || count > reader_.left())
      return false;
    head_.column_deletions.reserve(count);
    uint64_t next_column = 0;
    for (; count > 0; --count) {
      uint64_t head = 0;
      if (!reader_.varint(head) || (head >> 2) > std::numeric_limits<uint32_t>::max() - next_column)
        return false;
      const uint64_t column = next_column + (head >> 2);
      Deletion deletion{base_.timestamp, base_.local_seconds};
      if (!(head & deletion_base_timestamp) && !read_other(deletion.timestamp)) return false;
      if (!(head & deletion_base_local) && !read_other(deletion.local_seconds)) return false;
      if (!local_owned_ && !(head & deletion_base_local)) return false;
      local_owned_ = true;
      if (!deletion.exists() || head_.deletion.covers(deletion.timestamp)) return false;
      head_.column_deletions.push_back({static_cast<uint32_t>(column), deletion});
      next_column = column + 1;
      if (next_column > std::numeric_limits<uint32_t>::max() && count > 1) return false;
    }
    return true;
  }

  // Reads a number that must differ from the base's number, which `value` holds.
  bool read_other(int64_t& value) {
    int64_t by = 0;
    if (!reader_.signed_varint(by) || by == 0) return false;
    value = advance(value, by);
    return true;
  }

  bool read_filled(BytesView& bytes) { return reader_.sized(bytes) && !bytes.empty(); }

  [[gnu::always_inline]] bool read_column(uint8_t head, const Cell* previous, Cell& cell) {
    const uint64_t next = previous == nullptr ? 0 : static_cast<uint64_t>(previous->column) + 1;
    uint64_t column = next;
    if (head & same_column_bit) {
      if (previous == nullptr || (head & next_column_bit)) return false;
      column = next - 1;
    } else if (!(head & next_column_bit)) {
      uint64_t by = 0;
      if (!reader_.varint(by) || by < 2 || by > uint64_t{1} << 32) return false;
      column = next + by - 1;
    }
    if (column > std::numeric_limits<uint32_t>::max()) return false;
    cell.column = static_cast<uint32_t>(column);
    return true;
  }

  [[gnu::always_inline]] bool read_time(uint8_t head, Cell& cell) {
    const bool from_base = (head & base_time_bit) != 0;
    if (cell.kind == CellKind::expiring) {
      if (!(base_.flags & has_expiry) || (!expiry_owned_ && !from_base)) return false;
      expiry_owned_ = true;
      cell.time_to_live = base_.time_to_live;
      cell.expires_seconds = base_.expires_seconds;
      return from_base || read_other_expiry(cell);
    }
    if (cell.kind == CellKind::tombstone) {
      if (!(base_.flags & has_local) || (!local_owned_ && !from_base)) return false;
      local_owned_ = true;
      cell.expires_seconds = base_.local_seconds;
      return from_base || read_other(cell.expires_seconds);
    }
    return !from_base;
  }

  bool read_other_expiry(Cell& cell) {
    int64_t by = 0;
    if (!read_time_to_live(cell.time_to_live) || !reader_.signed_varint(by)) return false;
    cell.expires_seconds = advance(cell.expires_seconds, by);
    return by != 0 || cell.time_to_live != base_.time_to_live;
  }

  bool is_covered(const Cell& cell) {
    if (head_.deletion.covers(cell.timestamp)) return true;
    const auto& deletions = head_.column_deletions;
    while (next_deletion_ < deletions.size() && deletions[next_deletion_].column < cell.column)
      ++next_deletion_;
    return next_deletion_ < deletions.size() && deletions[next_deletion_].column == cell.column &&
           deletions[next_deletion_].deletion.covers(cell.timestamp);
  }

  RawReader reader_;
  Fragment& head_;
  Base base_;
  bool is_untimed_ = false;
  bool expiry_owned_ = false;
  bool local_owned_ = false;
  size_t next_deletion_ = 0;
};

}  // namespace sibyl::row::codec
