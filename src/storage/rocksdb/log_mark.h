// Which segment of the commit log holds what no table file has, kept outside of the log's directory: so that
// a log that went missing, whole or at its end, is noticed when the store is opened.
//
// A file of two lines (mark_file.h), "sibyl log GENERATION SEGMENT CRC". Segment 0: none is needed. Its note,
// "SEGMENT BYTES", says how much of a segment was on the device at some time: no later group attests that of
// the last ones.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "storage/rocksdb/disk.h"
#include "storage/rocksdb/recovery/mark_file.h"

namespace sibyl::storage::rocksdb {

class LogMark {
 public:
  // Borrows the disk, which must outlive it. A path that is empty keeps nothing.
  LogMark(std::string path, Disk& disk) : file_(std::move(path), "log", disk) {}

  const std::string& path() const { return file_.path(); }
  // Reads what is there. No file, and one without a whole line, say that no segment is needed.
  base::Status read();
  uint64_t segment() const { return segment_; }
  // Is on the device when it returns 0; otherwise it gives an errno, and may be tried again.
  int set(uint64_t segment);

  // So many bytes of the segment with this salt are on the device. Not synced itself; may fail unnoticed.
  void note_synced(uint64_t salt, uint64_t bytes);
  // What was noted of the segment with this salt; 0 when nothing was.
  uint64_t synced(uint64_t salt) const { return salt == synced_salt_ ? synced_bytes_ : 0; }

 private:
  MarkFile file_;
  uint64_t segment_ = 0;
  uint64_t synced_salt_ = 0, synced_bytes_ = 0;
};

}  // namespace sibyl::storage::rocksdb
