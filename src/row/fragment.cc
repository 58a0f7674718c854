#include "row/fragment.h"

#include <algorithm>

#include "base/memory.h"
#include "row/merge.h"
#include "row/varint.h"

namespace sibyl::row {
namespace {

// Flags of a fragment, in its second byte.
constexpr uint8_t has_marker = 0x01;
constexpr uint8_t has_deletion = 0x02;
constexpr uint8_t has_range_flag = 0x04;
constexpr uint8_t has_clustering = 0x08;
constexpr uint8_t has_column_deletions = 0x10;
constexpr uint8_t marker_expires = 0x20;
// base TTL and expiry: those of the marker, else of the first expiring cell
constexpr uint8_t has_expiry = 0x40;
// Base local time: that of the deletion, else of the first column deletion, else of the first tombstone.
constexpr uint8_t has_local = 0x80;

// Flags of a cell, in its first byte. The two lowest bits are its kind.
constexpr uint8_t kind_bits = 0x03;
constexpr uint8_t base_timestamp_bit = 0x04;
// Uses the base expiry (an expiring cell) or the base local time (a tombstone).
constexpr uint8_t base_time_bit = 0x08;
constexpr uint8_t path_bit = 0x10;
constexpr uint8_t original_path_bit = 0x20;
constexpr uint8_t next_column_bit = 0x40;
constexpr uint8_t same_column_bit = 0x80;

// Flags of a column deletion, in the bits below the column's distance.
constexpr uint64_t deletion_base_timestamp = 2;
constexpr uint64_t deletion_base_local = 1;

// Distances wrap around on overflow, so they are defined for every pair of numbers.
int64_t distance(int64_t from, int64_t to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}
int64_t advance(int64_t from, int64_t by) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + static_cast<uint64_t>(by));
}

bool precedes(const Cell& left, const Cell& right) {
  if (left.column != right.column) return left.column < right.column;
  return left.path < right.path;
}

// Values shared by most items of a fragment, which are written only once.
struct Base {
  uint8_t flags = 0;
  bool timed = false;  // some item has a timestamp
  int64_t timestamp = 0;
  int32_t time_to_live = 0;
  int64_t expires_seconds = 0;
  int64_t local_seconds = 0;

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

Base base_of(const Fragment& fragment) {
  Base base;
  const auto take_timestamp = [&base](int64_t timestamp) {
    if (!base.timed) base.timestamp = timestamp;
    base.timed = true;
  };
  if (fragment.marker.exists()) {
    base.flags |= has_marker;
    take_timestamp(fragment.marker.timestamp);
    if (fragment.marker.time_to_live != 0) {
      base.flags |= marker_expires;
      base.take_expiry(fragment.marker.time_to_live, fragment.marker.expires_seconds);
    }
  }
  if (!fragment.cells.empty()) take_timestamp(fragment.cells.front().timestamp);
  if (fragment.deletion.exists()) {
    base.flags |= has_deletion;
    take_timestamp(fragment.deletion.timestamp);
    base.take_local(fragment.deletion.local_seconds);
  }
  if (!fragment.column_deletions.empty()) {
    const Deletion& first = fragment.column_deletions.front().deletion;
    base.flags |= has_column_deletions;
    take_timestamp(first.timestamp);
    base.take_local(first.local_seconds);
  }
  for (const Cell& cell : fragment.cells) {
    if (cell.kind == CellKind::expiring) base.take_expiry(cell.time_to_live, cell.expires_seconds);
    if (cell.kind == CellKind::tombstone) base.take_local(cell.expires_seconds);
  }
  if (fragment.has_range_deletions) base.flags |= has_range_flag;
  if (!fragment.original_clustering.empty()) base.flags |= has_clustering;
  return base;
}

size_t size_bound(const Fragment& fragment) {
  size_t bound = 64 + 2 * max_varint_size + fragment.original_clustering.size();
  bound += fragment.column_deletions.size() * 3 * max_varint_size;
  for (const Cell& cell : fragment.cells)
    bound += 64 + cell.path.size() + cell.original_path.size() + cell.value.size();
  return bound;
}

void write_column_deletions(const Fragment& fragment, const Base& base, RawWriter& writer) {
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

bool has_base_time(const Cell& cell, const Base& base) {
  if (cell.kind == CellKind::expiring)
    return cell.time_to_live == base.time_to_live && cell.expires_seconds == base.expires_seconds;
  return cell.kind == CellKind::tombstone && cell.expires_seconds == base.local_seconds;
}

void write_cell(const Cell& cell, uint64_t column_distance, const Base& base, RawWriter& writer) {
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

char* write_fragment(const Fragment& fragment, const Base& base, char* out) {
  RawWriter writer(out);
  writer.byte(fragment_version);
  writer.byte(base.flags);
  if (base.flags & has_clustering) writer.sized(fragment.original_clustering);
  if (!base.timed) return writer.at();
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
  int64_t previous = -1;
  for (const Cell& cell : fragment.cells) {
    write_cell(cell, static_cast<uint64_t>(cell.column - previous), base, writer);
    previous = cell.column;
  }
  return writer.at();
}

// Decodes a fragment and rejects everything that the writer above would have written differently.
class Decoder {
 public:
  Decoder(BytesView bytes, Fragment& fragment) : reader_(bytes), fragment_(fragment) {}

  bool run() {
    uint8_t version = 0;
    if (!reader_.byte(version) || version != fragment_version || !reader_.byte(base_.flags)) return false;
    fragment_.has_range_deletions = (base_.flags & has_range_flag) != 0;
    if (base_.flags & has_clustering) {
      if (!reader_.sized(fragment_.original_clustering) || fragment_.original_clustering.empty())
        return false;
    }
    if (reader_.at_end()) return (base_.flags & ~(has_range_flag | has_clustering)) == 0;
    if (!read_base() || !read_marker() || !read_deletion()) return false;
    if ((base_.flags & has_column_deletions) && !read_column_deletions()) return false;
    if (!reader_.at_end()) fragment_.cells.reserve(std::min<size_t>(reader_.left() / 2, 8));
    while (!reader_.at_end())
      if (!read_cell()) return false;
    return bases_are_owned();
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
    fragment_.marker.timestamp = base_.timestamp;
    if (base_.flags & marker_expires) {
      if (!(base_.flags & has_expiry) || base_.time_to_live == 0) return false;
      fragment_.marker.time_to_live = base_.time_to_live;
      fragment_.marker.expires_seconds = base_.expires_seconds;
      expiry_owned_ = true;
    }
    return fragment_.marker.exists();
  }

  bool read_deletion() {
    if (!(base_.flags & has_deletion)) return true;
    uint64_t before = 0;
    if (!(base_.flags & has_local) || !reader_.varint(before)) return false;
    fragment_.deletion = {distance(static_cast<int64_t>(before), base_.timestamp), base_.local_seconds};
    local_owned_ = true;
    if (!fragment_.deletion.exists()) return false;
    return !fragment_.marker.exists() || !fragment_.deletion.covers(fragment_.marker.timestamp);
  }

  bool read_column_deletions() {
    uint64_t count = 0;
    if (!(base_.flags & has_local) || !reader_.varint(count) || count == 0 || count > reader_.left())
      return false;
    fragment_.column_deletions.reserve(count);
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
      if (!deletion.exists() || fragment_.deletion.covers(deletion.timestamp)) return false;
      fragment_.column_deletions.push_back({static_cast<uint32_t>(column), deletion});
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

  bool read_cell() {
    uint8_t head = 0;
    if (!reader_.byte(head)) return false;
    Cell& cell = fragment_.cells.emplace_back();
    cell.kind = static_cast<CellKind>(head & kind_bits);
    cell.timestamp = base_.timestamp;
    if (!read_column(head, cell)) return false;
    if (!(head & base_timestamp_bit) && !read_other(cell.timestamp)) return false;
    if (!read_time(head, cell)) return false;
    if ((head & path_bit) && !read_filled(cell.path)) return false;
    if ((head & original_path_bit) && !read_filled(cell.original_path)) return false;
    if (cell.kind != CellKind::tombstone && !reader_.sized(cell.value)) return false;
    if ((head & same_column_bit) && !(fragment_.cells.end()[-2].path < cell.path)) return false;
    return !fragment_.deletion.covers(cell.timestamp) && !column_deletion_covers(cell);
  }

  bool read_filled(BytesView& bytes) { return reader_.sized(bytes) && !bytes.empty(); }

  bool read_column(uint8_t head, Cell& cell) {
    const bool first = fragment_.cells.size() == 1;
    const uint64_t next = first ? 0 : static_cast<uint64_t>(fragment_.cells.end()[-2].column) + 1;
    uint64_t column = next;
    if (head & same_column_bit) {
      if (first || (head & next_column_bit)) return false;
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

  bool read_time(uint8_t head, Cell& cell) {
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

  bool column_deletion_covers(const Cell& cell) {
    const auto& deletions = fragment_.column_deletions;
    while (next_deletion_ < deletions.size() && deletions[next_deletion_].column < cell.column)
      ++next_deletion_;
    return next_deletion_ < deletions.size() && deletions[next_deletion_].column == cell.column &&
           deletions[next_deletion_].deletion.covers(cell.timestamp);
  }

  // Returns true if every base equals the number of the item that base_of() takes it from.
  bool bases_are_owned() const {
    if ((base_.flags & has_expiry) && !expiry_owned_) return false;
    if ((base_.flags & has_local) && !local_owned_) return false;
    if (fragment_.marker.exists()) return true;
    if (!fragment_.cells.empty()) return fragment_.cells.front().timestamp == base_.timestamp;
    if (fragment_.deletion.exists()) return fragment_.deletion.timestamp == base_.timestamp;
    return !fragment_.column_deletions.empty() &&
           fragment_.column_deletions.front().deletion.timestamp == base_.timestamp;
  }

  RawReader reader_;
  Fragment& fragment_;
  Base base_;
  bool expiry_owned_ = false;
  bool local_owned_ = false;
  size_t next_deletion_ = 0;
};

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
  out.resize_and_overwrite(size_bound(fragment), [&](char* buffer, size_t) {
    return static_cast<size_t>(write_fragment(fragment, base, buffer) - buffer);
  });
}

bool decode(BytesView bytes, Fragment& fragment) {
  const base::DeferredMemoryLimit deferred;
  fragment.clear();
  return Decoder(bytes, fragment).run();
}

bool is_perishable(BytesView bytes) noexcept {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes[0]) != fragment_version) return false;
  constexpr uint8_t timed = has_range_flag | has_expiry | has_local;
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
