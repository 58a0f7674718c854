// A store's directory: whose it is, which format it has, and that only one process has it open.
//
//   SIBYL_FORMAT   one line, "sibyl store format N"; whoever has the store open holds its lock
//   records/       RocksDB's files
//   log/           the commit log
//   SIBYL_LOG      which segment of it must be there (log_mark.h)
//   SIBYL_MANIFEST what records/ must at least hold (recovery/manifest_guard.h)
//   SIBYL_RESERVE  space that is held for a full device (space/disk_space.h); may be missing
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

inline constexpr uint32_t store_format = 1;

class Directory {
 public:
  // Makes a new store's directory when there is none, or an empty one; refuses one of another format, one
  // that is not a store's, one that is open already, and one that has lost its records.
  static base::Result<Directory> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string records_path() const { return path_ + "/records"; }
  std::string log_path() const { return path_ + "/log"; }
  std::string log_mark_path() const { return path_ + "/SIBYL_LOG"; }
  // The size of the log's files.
  uint64_t log_bytes() const;

 private:
  Directory(std::string path, base::File lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  base::Status check_records() const;

  std::string path_;
  base::File lock_;
};

// Makes a directory that has been filled from elsewhere, and is on the device, a store's.
base::Status mark_as_store(const std::string& path);

}  // namespace sibyl::storage::rocksdb
