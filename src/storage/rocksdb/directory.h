// A store's directory: checks that it is a store of a known format and that no other process has it open.
//
//   SIBYL_FORMAT   one line, "sibyl store format N"; locked while the store is open
//   records/       RocksDB's files
//   log/           the commit log
//   SIBYL_LOG      the segment of the log that must exist (log_mark.h)
//   SIBYL_MANIFEST the minimum content of records/ (recovery/manifest_guard.h)
//   SIBYL_RESERVE  space reserved for a full device (space/disk_space.h); may be missing
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
  // Creates the store's directory if there is none or an empty one. Refuses a directory that has another
  // format, is not a store, is already open, or has lost its records.
  static base::Result<Directory> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string records_path() const { return path_ + "/records"; }
  std::string log_path() const { return path_ + "/log"; }
  std::string log_mark_path() const { return path_ + "/SIBYL_LOG"; }
  // Size of the log's files.
  uint64_t log_bytes() const;

 private:
  Directory(std::string path, base::File lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  base::Status check_records() const;

  std::string path_;
  base::File lock_;
};

// Turns a directory that was filled from elsewhere into a store. REQUIRES: its files are on the device.
base::Status mark_as_store(const std::string& path);

}  // namespace sibyl::storage::rocksdb
