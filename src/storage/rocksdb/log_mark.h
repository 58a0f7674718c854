// Records, outside of the log's directory, which segment of the commit log holds data that no table file
// has. With this record, opening the store detects a log that is missing or incomplete at its end.
//
// The file has two lines (mark_file.h), "sibyl log GENERATION SEGMENT [LAST] CRC". Segment 0 means that none
// is needed; LAST is then the last segment that existed. The note, "SALT BYTES", records how much of a
// segment was on the device at some time, because no later group attests that for the last groups.
//
// Must be used by one thread at a time.
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
  // Borrows the disk, which must outlive this object. With an empty path nothing is stored.
  LogMark(std::string path, Disk& disk) : file_(std::move(path), "log", disk) {}

  const std::string& path() const { return file_.path(); }
  // Reads the file. If it is missing or has no complete line, no segment is needed.
  base::Status read();
  uint64_t segment() const { return segment_; }
  // The last segment that existed when the mark was set. 0: there was none, or an older version set the mark.
  uint64_t last_segment() const { return last_segment_; }
  // `last` is the last segment that exists, if that is later. Returns 0 once the mark is on the device, otherwise an
  // errno. After a failure the call may be retried.
  int set(uint64_t segment, uint64_t last = 0);

  // Records that `bytes` of the segment with this salt are on the device. Not synced; failures are ignored.
  void note_synced(uint64_t salt, uint64_t bytes);
  // Returns the recorded number for the segment with this salt, or 0.
  uint64_t synced(uint64_t salt) const { return salt == synced_salt_ ? synced_bytes_ : 0; }

 private:
  MarkFile file_;
  uint64_t segment_ = 0, last_segment_ = 0;
  uint64_t synced_salt_ = 0, synced_bytes_ = 0;
};

}  // namespace sibyl::storage::rocksdb
