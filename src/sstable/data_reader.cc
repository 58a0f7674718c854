#include "sstable/data_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"

namespace sibyl::sstable {
namespace {

// Flags of a row or a range's bound.
constexpr uint8_t end_of_partition = 0x01, is_marker = 0x02, has_timestamp = 0x04, has_ttl = 0x08,
                  has_deletion = 0x10, has_all_columns = 0x20, has_column_deletion = 0x40,
                  has_extension = 0x80;
constexpr uint8_t extended_is_static = 0x01;
// Flags of a cell.
constexpr uint8_t cell_is_deleted = 0x01, cell_is_expiring = 0x02, cell_has_empty_value = 0x04,
                  cell_uses_row_timestamp = 0x08, cell_uses_row_ttl = 0x10;
constexpr uint8_t live_partition = 0x80;
constexpr size_t max_clustering_columns = 65'535;

// Kinds of bounds, with Cassandra's numbers.
enum class BoundKind : uint8_t {
  exclusive_end = 0,
  inclusive_start = 1,
  exclusive_end_inclusive_start = 2,
  inclusive_end_exclusive_start = 5,
  inclusive_end = 6,
  exclusive_start = 7,
};

base::BytesView take_value(Cursor& cursor, int64_t fixed_size) {
  return fixed_size >= 0 ? cursor.take(static_cast<uint64_t>(fixed_size)) : cursor.sized();
}

}  // namespace

base::Result<std::unique_ptr<DataReader>> DataReader::open(const Files& files) {
  SIBYL_ASSIGN(Chunks chunks, Chunks::open(files));
  const std::string path = files.path("Statistics.db");
  const auto statistics = base::read_file(path);
  if (!statistics)
    return base::fail(statistics.error().code(),
                      fmt::format("Cannot read {}: {}", path, statistics.error().message()));
  SIBYL_ASSIGN(Header header, parse_statistics(*statistics, path));
  return std::unique_ptr<DataReader>(
      new DataReader(std::move(chunks), std::move(header), has_unsigned_times(files.version)));
}

base::Result<std::unique_ptr<DataReader>> DataReader::make(const Files& files,
                                                           std::unique_ptr<RandomAccess> data,
                                                           base::BytesView statistics, base::BytesView info,
                                                           base::BytesView checksums) {
  SIBYL_ASSIGN(Chunks chunks, Chunks::make(std::move(data), files.path("Data.db"), info, checksums, files));
  SIBYL_ASSIGN(Header header, parse_statistics(statistics, files.path("Statistics.db")));
  return std::unique_ptr<DataReader>(
      new DataReader(std::move(chunks), std::move(header), has_unsigned_times(files.version)));
}

base::Error DataReader::damaged_at(uint64_t offset, const std::string& what) const {
  return damage(file(), offset, what + " (offset in the decompressed data)");
}

base::Error DataReader::damaged(const std::string& what) const {
  return damaged_at(offset(), what);
}

base::Status DataReader::load(uint64_t size) {
  if (size > data_length() - offset()) return base::fail(damaged("the data ends too early"));
  if (window_.size() - position_ >= size) return {};
  window_.erase(0, position_);
  window_offset_ += position_;
  position_ = 0;
  while (window_.size() < size) {
    if (next_chunk_ >= chunks_.count()) return base::fail(damaged("the data ends too early"));
    SIBYL_TRY(chunks_.read(next_chunk_, window_));
    ++next_chunk_;
  }
  return {};
}

base::Result<base::BytesView> DataReader::take(uint64_t size) {
  SIBYL_TRY(load(size));
  const base::BytesView taken = base::BytesView(window_).substr(position_, size);
  position_ += size;
  return taken;
}

base::Result<uint64_t> DataReader::take_vint() {
  SIBYL_TRY(load(1));
  const auto extra = static_cast<uint64_t>(std::countl_one(static_cast<unsigned char>(window_[position_])));
  SIBYL_ASSIGN(base::BytesView bytes, take(1 + extra));
  uint64_t value = 0;
  types::take_unsigned_vint(bytes, value);
  return value;
}

base::Result<std::optional<Deletion>> DataReader::take_partition_deletion() {
  Deletion deletion;
  if (!has_unsigned_times_) {
    SIBYL_ASSIGN(const base::BytesView bytes, take(12));
    deletion.local_time = base::read_big_endian<uint32_t>(bytes);
    deletion.timestamp = static_cast<int64_t>(base::read_big_endian<uint64_t>(bytes.substr(4)));
    const bool is_live = deletion.timestamp == std::numeric_limits<int64_t>::min();
    return is_live ? std::nullopt : std::optional(deletion);
  }
  SIBYL_TRY(load(1));
  const auto first = static_cast<uint8_t>(window_[position_]);
  if ((first & live_partition) != 0) {
    if (first != live_partition) return base::fail(damaged("wrong flags of a partition's deletion"));
    ++position_;
    return std::nullopt;
  }
  SIBYL_ASSIGN(const base::BytesView bytes, take(12));
  deletion.timestamp = static_cast<int64_t>(base::read_big_endian<uint64_t>(bytes));
  deletion.local_time = base::read_big_endian<uint32_t>(bytes.substr(8));
  return deletion;
}

base::Result<std::optional<Partition>> DataReader::next_partition() {
  open_range_.reset();
  if (offset() == data_length()) return std::nullopt;
  Partition partition;
  SIBYL_ASSIGN(const base::BytesView size, take(2));
  SIBYL_ASSIGN(const base::BytesView key, take(base::read_big_endian<uint16_t>(size)));
  partition.key = base::Bytes(key);
  SIBYL_ASSIGN(partition.deletion, take_partition_deletion());
  return partition;
}

base::Result<ClusteringPrefix> DataReader::take_clustering(size_t size) {
  ClusteringPrefix prefix;
  uint64_t states = 0;
  for (size_t i = 0; i < size; ++i) {
    if (i % 32 == 0) {
      SIBYL_ASSIGN(states, take_vint());
    }
    const uint64_t state = states >> (i % 32 * 2) & 3;  // the state 1 means empty, 2 means null
    if (state == 2 || state == 3) return base::fail(damaged("a null in a clustering key"));
    if (state == 1) {
      prefix.emplace_back();
      continue;
    }
    const int64_t fixed = header_.clustering[i]->fixed_size();
    uint64_t length = static_cast<uint64_t>(fixed);
    if (fixed < 0) {
      SIBYL_ASSIGN(length, take_vint());
    }
    SIBYL_ASSIGN(const base::BytesView value, take(length));
    prefix.emplace_back(value);
  }
  return prefix;
}

base::Result<base::BytesView> DataReader::take_body() {
  SIBYL_ASSIGN(const uint64_t size, take_vint());
  SIBYL_ASSIGN(base::BytesView body, take(size));
  uint64_t previous_size = 0;
  if (!types::take_unsigned_vint(body, previous_size)) return base::fail(damaged("a row has a wrong size"));
  return body;
}

base::Result<Item> DataReader::next_item() {
  Item item;
  while (true) {
    SIBYL_ASSIGN(const base::BytesView first, take(1));
    const auto flags = static_cast<uint8_t>(first[0]);
    if ((flags & end_of_partition) != 0) {
      if (open_range_) return base::fail(damaged("a range of deleted rows has no end"));
      return item;
    }
    uint8_t extended = 0;
    if ((flags & has_extension) != 0) {
      SIBYL_ASSIGN(const base::BytesView second, take(1));
      extended = static_cast<uint8_t>(second[0]);
    }
    if ((flags & is_marker) == 0) {
      item.kind = Item::Kind::row;
      SIBYL_ASSIGN(item.row, read_row(flags, extended));
      return item;
    }
    SIBYL_ASSIGN(const bool is_complete, read_marker(item.range));
    if (!is_complete) continue;
    item.kind = Item::Kind::range;
    return item;
  }
}

base::Result<bool> DataReader::read_marker(RangeDeletion& range) {
  SIBYL_ASSIGN(const base::BytesView head, take(3));
  const auto kind = static_cast<BoundKind>(head[0]);
  const size_t size = base::read_big_endian<uint16_t>(head.substr(1));
  if (size > header_.clustering.size()) return base::fail(damaged("a bound has too many values"));
  SIBYL_ASSIGN(ClusteringPrefix prefix, take_clustering(size));
  const uint64_t begin = offset();
  SIBYL_ASSIGN(const base::BytesView body, take_body());
  Cursor cursor(body);
  const Deletion first = read_deletion(cursor);
  const bool is_boundary =
      kind == BoundKind::exclusive_end_inclusive_start || kind == BoundKind::inclusive_end_exclusive_start;
  const Deletion second = is_boundary ? read_deletion(cursor) : first;
  if (!cursor.ok() || !cursor.at_end()) return base::fail(damaged_at(begin, "a malformed bound of a range"));
  const bool is_start = kind == BoundKind::inclusive_start || kind == BoundKind::exclusive_start;
  const bool is_end = kind == BoundKind::inclusive_end || kind == BoundKind::exclusive_end;
  if (!is_start && !is_end && !is_boundary) return base::fail(damaged_at(begin, "an unknown kind of bound"));
  if (is_start == open_range_.has_value())
    return base::fail(damaged_at(begin, "a bound of a range in the wrong place"));
  if (!is_start) {
    range.start = open_range_->first;
    range.deletion = open_range_->second;
    range.end = {prefix,
                 kind == BoundKind::inclusive_end || kind == BoundKind::inclusive_end_exclusive_start};
    if (range.deletion != first) return base::fail(damaged_at(begin, "the ends of a range differ"));
  }
  open_range_.reset();
  if (!is_end)
    open_range_ = {{std::move(prefix),
                    kind == BoundKind::inclusive_start || kind == BoundKind::exclusive_end_inclusive_start},
                   second};
  return !is_start;
}

base::Result<Row> DataReader::read_row(uint8_t flags, uint8_t extended) {
  Row row;
  row.is_static = (extended & extended_is_static) != 0;
  if (!row.is_static) {
    SIBYL_ASSIGN(row.clustering, take_clustering(header_.clustering.size()));
  }
  const uint64_t begin = offset();
  SIBYL_ASSIGN(const base::BytesView body, take_body());
  Cursor cursor(body);
  const std::vector<HeaderColumn>& columns = row.is_static ? header_.static_columns : header_.columns;
  if (!read_row_body(cursor, flags, columns, row) || !cursor.ok() || !cursor.at_end())
    return base::fail(damaged_at(begin + cursor.offset(), "a malformed row"));
  return row;
}

Deletion DataReader::read_deletion(Cursor& cursor) const {
  Deletion deletion;
  deletion.timestamp = static_cast<int64_t>(cursor.vint() + static_cast<uint64_t>(header_.min_timestamp));
  deletion.local_time = static_cast<uint32_t>(cursor.vint() + header_.min_local_deletion_time);
  return deletion;
}

bool DataReader::read_row_body(Cursor& cursor, uint8_t flags, const std::vector<HeaderColumn>& columns,
                               Row& row) const {
  if ((flags & has_timestamp) != 0) {
    row.marker.emplace();
    row.marker->timestamp =
        static_cast<int64_t>(cursor.vint() + static_cast<uint64_t>(header_.min_timestamp));
    if ((flags & has_ttl) != 0) {
      const auto time_to_live = static_cast<uint32_t>(cursor.vint() + header_.min_time_to_live);
      const auto local_time = static_cast<uint32_t>(cursor.vint() + header_.min_local_deletion_time);
      row.marker->expiry = Expiry{time_to_live, local_time};
    }
  }
  if ((flags & has_deletion) != 0) row.deletion = read_deletion(cursor);
  std::vector<size_t> present;
  if ((flags & has_all_columns) != 0) {
    for (size_t i = 0; i < columns.size(); ++i) present.push_back(i);
  } else if (!read_subset(cursor, columns.size(), present)) {
    return false;
  }
  for (const size_t index : present)
    if (!read_column(cursor, index, *columns[index].type, (flags & has_column_deletion) != 0, row))
      return false;
  return true;
}

// Reads which columns are present. With fewer than 64 columns: a bit for each column that is missing.
// Otherwise: the number of missing columns, then the indexes of the present or of the missing columns,
// whichever are fewer.
bool DataReader::read_subset(Cursor& cursor, size_t count, std::vector<size_t>& present) const {
  const uint64_t encoded = cursor.vint();
  if (encoded == 0 || count < 64) {
    if (count < 64 && (encoded >> count) != 0) return false;
    for (size_t i = 0; i < count; ++i)
      if (encoded == 0 || (encoded >> i & 1) == 0) present.push_back(i);
    return cursor.ok();
  }
  if (encoded > count) return false;
  const size_t kept = count - encoded;
  const bool lists_present = kept < count / 2;
  std::vector<bool> is_listed(count, false);
  for (size_t i = 0; i < (lists_present ? kept : encoded); ++i) {
    const uint64_t index = cursor.vint();
    if (!cursor.ok() || index >= count || is_listed[index]) return false;
    is_listed[index] = true;
  }
  for (size_t i = 0; i < count; ++i)
    if (is_listed[i] == lists_present) present.push_back(i);
  return true;
}

bool DataReader::read_column(Cursor& cursor, size_t index, const types::Type& type, bool has_deletion_time,
                             Row& row) const {
  if (!type.is_multi_cell()) return read_cell(cursor, index, type, row);
  if (has_deletion_time) {
    const Deletion deletion = read_deletion(cursor);
    if (deletion.timestamp != std::numeric_limits<int64_t>::min())
      row.column_deletions.emplace_back(index, deletion);
  }
  const uint64_t count = cursor.vint();
  if (count > cursor.rest().size()) return false;  // a cell takes at least two bytes
  for (uint64_t i = 0; i < count; ++i)
    if (!read_cell(cursor, index, type, row)) return false;
  return cursor.ok();
}

bool DataReader::read_cell(Cursor& cursor, size_t index, const types::Type& type, Row& row) const {
  Cell cell;
  cell.column = index;
  const auto flags = cursor.big_endian<uint8_t>();
  cell.is_deleted = (flags & cell_is_deleted) != 0;
  const bool is_expiring = (flags & cell_is_expiring) != 0;
  const bool uses_row_ttl = (flags & cell_uses_row_ttl) != 0;
  if ((flags & cell_uses_row_timestamp) != 0 && !row.marker) return false;
  if (uses_row_ttl && (!row.marker || !row.marker->expiry)) return false;
  cell.timestamp = (flags & cell_uses_row_timestamp) != 0
                       ? row.marker->timestamp
                       : static_cast<int64_t>(cursor.vint() + static_cast<uint64_t>(header_.min_timestamp));
  if (uses_row_ttl) {
    cell.expiry = row.marker->expiry;
  } else if (cell.is_deleted || is_expiring) {
    cell.local_deletion_time = static_cast<uint32_t>(cursor.vint() + header_.min_local_deletion_time);
    if (is_expiring)
      cell.expiry =
          Expiry{static_cast<uint32_t>(cursor.vint() + header_.min_time_to_live), cell.local_deletion_time};
  }
  if (cell.is_deleted && cell.expiry) return false;
  if (type.is_multi_cell()) cell.path = base::Bytes(cursor.sized());
  if ((flags & cell_has_empty_value) == 0)
    cell.value = base::Bytes(take_value(cursor, type.is_multi_cell() ? -1 : type.fixed_size()));
  row.cells.push_back(std::move(cell));
  return cursor.ok();
}

}  // namespace sibyl::sstable
