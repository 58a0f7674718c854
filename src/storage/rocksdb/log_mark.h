// Which segment of the commit log holds what no table file has, kept outside of the log's directory: so that
// a log that went missing, whole or at its end, is noticed when the store is opened.
//
// A file of two lines of 512 bytes, written in turns, so that a torn write leaves the other one:
// "sibyl log GENERATION SEGMENT CRC", filled up with blanks. The generation counts the writes, and the line
// with the higher one holds; the CRC-32C, hexadecimal, is of the line's bytes before it. Segment 0: none is
// needed.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "storage/rocksdb/disk.h"

namespace sibyl::storage::rocksdb {

class LogMark {
 public:
  // Borrows the disk, which must outlive it. A path that is empty keeps nothing.
  LogMark(std::string path, Disk& disk) : path_(std::move(path)), disk_(&disk) {}

  const std::string& path() const { return path_; }
  // Reads what is there. No file, and one whose making was interrupted, say that no segment is needed.
  base::Status read();
  uint64_t segment() const { return segment_; }
  // Is on the device when it returns 0; otherwise it gives an errno, and may be tried again.
  int set(uint64_t segment);

 private:
  int open_file();

  std::string path_;
  Disk* disk_;
  std::optional<base::File> file_;  // once it is written
  uint64_t generation_ = 0;
  uint64_t segment_ = 0;
};

}  // namespace sibyl::storage::rocksdb
