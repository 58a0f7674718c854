// Copies the store's files while they are in use. Table files never change, so they are linked. The few other
// files are copied as of one moment.
#pragma once

#include <rocksdb/db.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

// Creates `directory`, which must not exist. The copy is on the device when this returns. Data that is only
// in memory is not included. The returned paths are relative to `directory`.
base::Result<std::vector<CheckpointFile>> make_checkpoint(::rocksdb::DB& database,
                                                          const std::string& directory);

// A file of the store as of one moment.
struct HeldFile {
  std::string name;
  // The part of the file to use; the file may be longer, if it is not a table.
  uint64_t size = 0;
  bool is_table = false;           // it never changes
  std::optional<uint32_t> crc32c;  // the checksum, if RocksDB knows it
  base::Bytes content;             // if this is not empty, it replaces the content of the file
};
// Returns the files of the store, without those that are created again whenever it is opened. They are not
// removed until release_files(). Data that is only in memory is not included.
base::Result<std::vector<HeldFile>> hold_files(::rocksdb::DB& database);
void release_files(::rocksdb::DB& database);

}  // namespace sibyl::storage::rocksdb
