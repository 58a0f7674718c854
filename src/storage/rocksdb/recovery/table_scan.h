// Reads the entries of a RocksDB table file without RocksDB, around whatever is damaged.
//
// A table file is a run of blocks, each followed by its compression type and checksum: data blocks in key
// order, then filters, indexes, properties, and a footer that leads to them. Blocks are found by the index
// where it is intact. Where it is not, the end of a block is searched for: the place where a checksum fits.
// What no block can be found for is damaged, and skipped.
//
// Used by one thread at a time.
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
  // RocksDB's numbers.
  enum Type : uint8_t { deletion = 0, value_of_key = 1, merge = 2, single_deletion = 7, range_deletion = 15 };

  base::Bytes key;
  uint64_t sequence = 0;
  Type type = deletion;
  base::Bytes value;  // range_deletion: the end of the range
};

// A part of a file that could not be read. Its records were between the two keys, ends included.
struct DamagedPart {
  uint64_t offset = 0, size = 0;
  base::Bytes after, before;  // empty: the file's first and last record
};

class TableScan {
 public:
  // An error when the file cannot be read at all.
  static base::Result<std::unique_ptr<TableScan>> open(const std::string& path);
  ~TableScan();
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  // Goes to the next entry, in the order of keys and, for each, from the newest. False at the end.
  bool next();
  const TableEntry& entry() const { return block_[position_]; }
  const std::vector<TableEntry>& range_deletions() const { return range_deletions_; }

  // What was skipped so far.
  const std::vector<DamagedPart>& damaged() const { return damaged_; }
  // The footer or properties are damaged, so it is not known which ranges the file deletes.
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

  const base::BytesView bytes_;  // of the mapped file
  uint8_t checksum_type_ = 4;
  uint64_t data_end_ = 0;                // where data blocks end
  std::map<uint64_t, uint64_t> blocks_;  // offsets and sizes of data blocks, as far as the index is intact
  uint64_t offset_ = 0;                  // of the next block
  std::vector<TableEntry> block_;
  size_t position_ = 0;
  base::Bytes last_key_;
  bool has_open_damage_ = false;  // the key after the newest damaged part is not known yet
  std::vector<TableEntry> range_deletions_;
  std::vector<DamagedPart> damaged_;
  bool lost_range_deletions_ = false;
};

}  // namespace sibyl::storage::rocksdb
