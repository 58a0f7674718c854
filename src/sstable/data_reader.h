// Reads the partitions, rows and tombstones of one SSTable, front to back.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sstable/chunks.h"
#include "sstable/cursor.h"
#include "sstable/statistics.h"

namespace sibyl::sstable {

// A deletion: of a partition, a row, a range, a column or a cell.
struct Deletion {
  int64_t timestamp = 0;    // microseconds
  uint32_t local_time = 0;  // seconds since 1970
  bool operator==(const Deletion&) const = default;
};

struct Expiry {
  uint32_t time_to_live = 0;  // seconds
  uint32_t local_time = 0;    // when it expires, in seconds since 1970
};

// The row's own marker, as INSERT writes it.
struct Marker {
  int64_t timestamp = 0;
  std::optional<Expiry> expiry;
};

struct Cell {
  size_t column = 0;  // index in Header::columns, or Header::static_columns
  int64_t timestamp = 0;
  bool is_deleted = false;
  uint32_t local_deletion_time = 0;  // if deleted
  std::optional<Expiry> expiry;
  base::Bytes path;  // the key of the element or field; empty for single-cell columns
  base::Bytes value;
};

using ClusteringPrefix = std::vector<base::Bytes>;

struct Row {
  bool is_static = false;
  ClusteringPrefix clustering;
  std::optional<Marker> marker;
  std::optional<Deletion> deletion;
  std::vector<std::pair<size_t, Deletion>> column_deletions;  // deletions of whole collections and user types
  std::vector<Cell> cells;
};

// One end of a range of rows, in clustering order.
struct Bound {
  ClusteringPrefix prefix;
  bool is_inclusive = true;
};

struct RangeDeletion {
  Bound start, end;
  Deletion deletion;
};

struct Partition {
  base::Bytes key;
  std::optional<Deletion> deletion;
};

// The next item of a partition.
struct Item {
  enum class Kind { row, range, end };
  Kind kind = Kind::end;
  Row row;
  RangeDeletion range;
};

class DataReader {
 public:
  static base::Result<std::unique_ptr<DataReader>> open(const Files& files);
  // For tests and fuzzing: the files' contents. `info` and `checksums` may be empty.
  static base::Result<std::unique_ptr<DataReader>> make(const Files& files,
                                                        std::unique_ptr<RandomAccess> data,
                                                        base::BytesView statistics, base::BytesView info,
                                                        base::BytesView checksums);

  const Header& header() const { return header_; }
  const std::string& file() const { return chunks_.file(); }
  uint64_t data_length() const { return chunks_.data_length(); }
  // The offset in the decompressed data.
  uint64_t offset() const { return window_offset_ + position_; }

  // Returns the next partition, or nullopt at the end of the file. REQUIRES: the items of the last one were
  // read.
  base::Result<std::optional<Partition>> next_partition();
  // Returns the next item of the partition; `end` after the last one. A range is returned when its end is
  // read.
  base::Result<Item> next_item();

 private:
  DataReader(Chunks chunks, Header header, bool has_unsigned_times)
      : chunks_(std::move(chunks)), header_(std::move(header)), has_unsigned_times_(has_unsigned_times) {}

  base::Error damaged(const std::string& what) const;
  base::Error damaged_at(uint64_t offset, const std::string& what) const;
  // Loads the next `size` bytes into the window. Fails at the end of the data.
  base::Status load(uint64_t size);
  base::Result<base::BytesView> take(uint64_t size);
  base::Result<uint64_t> take_vint();
  base::Result<std::optional<Deletion>> take_partition_deletion();
  base::Result<ClusteringPrefix> take_clustering(size_t size);
  // Skips two sizes, of the row or marker itself and of the previous one, and returns the bytes that follow.
  base::Result<base::BytesView> take_body();

  base::Result<Row> read_row(uint8_t flags, uint8_t extended);
  bool read_row_body(Cursor& cursor, uint8_t flags, const std::vector<HeaderColumn>& columns, Row& row) const;
  bool read_subset(Cursor& cursor, size_t count, std::vector<size_t>& present) const;
  bool read_column(Cursor& cursor, size_t index, const types::Type& type, bool has_deletion, Row& row) const;
  bool read_cell(Cursor& cursor, size_t index, const types::Type& type, Row& row) const;
  Deletion read_deletion(Cursor& cursor) const;
  // Returns false if the marker begins a range and does not end one.
  base::Result<bool> read_marker(RangeDeletion& range);

  Chunks chunks_;
  Header header_;
  const bool has_unsigned_times_;
  base::Bytes window_;  // decompressed data
  size_t position_ = 0;
  uint64_t window_offset_ = 0;
  size_t next_chunk_ = 0;
  std::optional<std::pair<Bound, Deletion>> open_range_;
};

}  // namespace sibyl::sstable
