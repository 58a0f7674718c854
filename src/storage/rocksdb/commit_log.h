// The commit log: makes a write durable before it is in a table file.
//
// RocksDB's own write-ahead log is not used because it does not keep two promises of store.h: a group whose
// write or sync failed must never reappear, not even after a crash; and the store must resume by itself as
// soon as the device works again. In addition, a preallocated and reused file syncs without touching its
// metadata.
//
// Groups are appended to segments of a fixed size. A segment's space is reserved when it is created, so a
// lack of space is detected before anything is written. Segments that the tables no longer need are reused.
// Layout, all integers little-endian:
//
//   segment   "SIBYLLOG", version u32, crc u32, number u64, salt u64, previous_end u64, oldest u64;
//             then groups, each on an 8-byte boundary
//   group     crc u32, size u32, synced u64, bytes
//
//  - previous_end  where the last group of the previous segment ends. Anything beyond was never committed.
//  - oldest        the first segment that was still needed.
//  - synced        how much of this segment was known to be on the device when the group was written.
//  - crc           CRC-32C of everything else. A group's checksum also covers the segment's random salt and
//                  the group's offset, so that old groups of a reused segment and values that look like
//                  groups fail it.
//
// Sixteen zero bytes follow the last group. Anything else that follows it is an incompletely written group.
//
// Recovery reads the segments beginning with `oldest` of the last segment. In the last segment it stops at
// the first incomplete group. Opening is refused as damaged if a segment is missing or ends early, or if a
// later group attests that the broken group had been synced, because acknowledged writes must never be
// dropped silently. If the last segment or all segments are missing, no other segment shows it. A mark
// outside of the log's directory does (log_mark.h). After a clean shutdown the log may be missing; new
// segments then continue its numbers, so that the old segments are refused if they return, for example with
// the volume that they are on. The mark also records how much of the last segment was synced, because no later group attests that. That note is written before a group is acknowledged, but not
// synced: only a crash of the machine can lose it.
//
// A segment whose sync failed is not trusted: the kernel reports such an error once and then treats the
// unwritten pages as clean. Nothing more is written to that segment. Groups that were not known to be on the
// device are written again to a new segment, and the file is not reused.
//
// Must be used by one thread at a time. bytes() is thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/rocksdb/disk.h"
#include "storage/rocksdb/log_mark.h"
#include "storage/rocksdb/space/disk_space.h"
#include "storage/rocksdb/write_log.h"

namespace sibyl::storage::rocksdb {

struct SegmentHeader;  // log_format.h

class CommitLog final : public WriteLog {
 public:
  struct Options {
    std::string directory;  // must exist
    uint64_t segment_bytes = 8 << 20;
    size_t kept_segments = 2;  // released segments to keep for reuse
    Disk* disk = &Disk::real();
    std::string mark;            // path of the log's mark, outside of the directory; empty: no mark
    DiskSpace* space = nullptr;  // its reserve is released when there is no space for a segment
  };

  static base::Result<std::unique_ptr<CommitLog>> open(Options options, const Replay& replay);
  ~CommitLog() override;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // Appends a group and, if `durable`, waits until it is on the device. After an error the group is not in
  // the log. If the device fails even to remove it, every later append removes it first.
  base::Status append(base::BytesView group, bool durable) override;
  // Removes the group that was appended last.
  base::Status undo() override;
  // Waits until all groups are on the device.
  base::Status sync() override;
  // Records in the mark how much of the log is on the device. Does not sync and does not report failures. After
  // this, undo() must not be called before the next append.
  void note_synced() override;

  const Recovered& recovered() const override { return recovered_; }

  // True if the log has groups that may not be on the device although a sync was attempted. The next append
  // or sync moves them to a new segment; release_all() makes them unnecessary.
  bool sync_failed() const override { return !segments_.empty() && segments_.back().sync_failed; }

  // The segment that append() last wrote to.
  uint64_t segment() const override { return segments_.empty() ? 0 : segments_.back().number; }
  // Releases the segments up to `number`, whose groups are no longer needed. The current segment stays.
  void release(uint64_t number) override;
  // Starts an empty log. REQUIRES: all groups are in table files.
  base::Status release_all() override;
  // Frees the space of released segments and of files that are kept for reuse.
  base::Status trim() override;

  uint64_t bytes() const override { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Segment {
    uint64_t number = 0;
    int file = -1;
    uint64_t size = 0;
    // The bytes before this offset have been written once; the bytes after it are only reserved.
    uint64_t written = 0;
    uint64_t salt = 0;
    uint64_t oldest = 0;  // the first segment that was still needed when this header was written
    bool sync_failed = false;
  };

  explicit CommitLog(Options options) : options_(std::move(options)), mark_(options_.mark, *options_.disk) {}
  base::Status recover(const Replay& replay);
  base::Status open_segments(std::vector<SegmentHeader>& headers, std::vector<std::string>& leftovers);
  base::Result<uint64_t> replay_segment(const Segment& segment, std::optional<uint64_t> expected_end,
                                        const Replay& replay);
  base::Status ready_for(uint64_t needed);
  base::Status start_segment(uint64_t needed, bool forget_older);
  base::Result<std::vector<base::Bytes>> unsynced_groups() const;
  void write_ahead(Segment& segment, uint64_t end) const;
  int write_group(const Segment& segment, uint64_t offset, uint64_t synced, base::BytesView group) const;
  base::Status publish();
  base::Status set_mark(uint64_t number);
  base::Status clear_last_group();
  int make_file(Segment& segment, uint64_t size, std::string& path);
  void retire_released();
  void count_bytes();

  base::Status failed(const char* what, int error, uint64_t needed = 0) const;
  int allocate(Segment& segment, uint64_t needed) const;
  base::Status damaged(uint64_t number, const std::string& why) const;
  base::Status check_mark();
  std::string path_of(uint64_t number) const;
  std::string spare_path(uint64_t number) const;
  int sync_directory() const;

  const Options options_;
  Recovered recovered_;
  // Names the segment that was written to last. It is set before any group of that segment is acknowledged.
  LogMark mark_;
  std::deque<Segment> segments_;    // groups are appended to the last segment; the others are only kept
  std::deque<Segment> spares_;      // to be reused
  std::optional<Segment> pending_;  // a segment that has its name, perhaps not yet on the device
  uint64_t pending_end_ = 0;        // end of its groups
  uint64_t released_ = 0;           // segments up to this number are not needed
  uint64_t next_number_ = 1;
  uint64_t end_ = 0;         // offset of the next group
  uint64_t synced_ = 0;      // how much of the current segment is on the device
  uint64_t last_begin_ = 0;  // begin of the group that was appended last
  bool must_undo_ = false;   // a group that was never committed may follow end_
  // Complete old groups may follow further on in this segment. A new group might end right before one of
  // them.
  bool must_start_segment_ = false;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace sibyl::storage::rocksdb
