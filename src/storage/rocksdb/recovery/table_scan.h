// Reads the intact entries of a damaged RocksDB table file, without RocksDB.
//
// A table file is a sequence of blocks, each followed by its compression type and checksum: data blocks in
// key order, then filters, indexes, properties, and a footer that leads to them. Blocks are located by the
// index where it is intact. Elsewhere the end of a block is searched for: an offset where a checksum matches.
// Bytes for which no block is found are damaged and skipped.
//
// Must be used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

struct TableEntry {
  // The values are RocksDB's.
  enum Type : uint8_t { deletion = 0, value_of_key = 1, merge = 2, single_deletion = 7, range_deletion = 15 };

  base::Bytes key;
  uint64_t sequence = 0;
  Type type = deletion;
  base::Bytes value;  // range_deletion: the end of the range
};

// An unreadable part of a file. Its records were between the two keys, inclusive.
struct DamagedPart {
  uint64_t offset = 0, size = 0;
  base::Bytes after, before;  // empty: the file's first or last record
};

class TableScan {
 public:
  // Returns an error if the file cannot be read at all.
  static base::Result<std::unique_ptr<TableScan>> open(const std::string& path);
  ~TableScan();
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  // Moves to the next entry, in key order and from newest to oldest for each key. Returns false at the end.
  bool next();
  const TableEntry& entry() const { return block_[position_]; }
  const std::vector<TableEntry>& range_deletions() const { return range_deletions_; }

  // The parts skipped so far.
  const std::vector<DamagedPart>& damaged() const { return damaged_; }
  // True if the footer or properties are damaged, so that the file's range deletions are not known.
  bool lost_range_deletions() const { return lost_range_deletions_; }

 private:
  struct Handle {
    uint64_t offset = 0, size = 0;
  };

  TableScan(const char* data, size_t size) : bytes_(data, size) {}
  void read_footer();
  void read_meta(const Handle& metaindex);
  void read_index(const Handle& index, bool is_top);
  bool read_block(const Handle& handle, base::Bytes& contents) const;
  bool is_block(uint64_t offset, uint64_t size) const;
  bool find_block(uint64_t offset, uint64_t max_size, Handle& handle) const;
  bool load_block();
  bool accept(const base::Bytes& contents);
  void skip_damage();

  const base::BytesView bytes_;  // bytes of the mapped file
  uint8_t checksum_type_ = 4;
  uint64_t data_end_ = 0;                // end of the data blocks
  std::map<uint64_t, uint64_t> blocks_;  // offsets and sizes of data blocks, as far as the index is intact
  uint64_t offset_ = 0;                  // offset of the next block
  std::vector<TableEntry> block_;
  size_t position_ = 0;
  base::Bytes last_key_;
  bool has_open_damage_ = false;  // the key after the newest damaged part is not known yet
  std::vector<TableEntry> range_deletions_;
  std::vector<DamagedPart> damaged_;
  bool lost_range_deletions_ = false;
};

}  // namespace sibyl::storage::rocksdb
