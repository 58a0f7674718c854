// The commit log: what makes a write durable before it is in a table file.
//
// The engine's own write-ahead log is not used, for two promises of store.h that it does not keep: a group
// whose write or sync failed must never come back, not even after a crash; and the store must go on by itself
// as soon as the device does. Besides, a reserved and reused file syncs without touching its metadata.
//
// Groups are appended to segments of a fixed size, whose space is reserved when they are made: running out of
// space is found before anything is written. Segments that the tables no longer need are reused. Layout, all
// integers little-endian:
//
//   segment   "SIBYLLOG", version u32, crc u32, number u64, salt u64, previous_end u64, oldest u64; then
//   groups, each
//             on an 8-byte boundary
//   group     crc u32, size u32, synced u64, bytes
//
// previous_end is where the last group of the segment before ends: what lies beyond never was. `oldest` is
// the first segment that was still needed. `synced` is how far this segment was known to be on the device
// when the group was written. A crc is CRC-32C of all the rest; a group's also of the segment's random salt
// and the group's place, so that neither a reused segment's old groups nor values that look like groups
// count. Sixteen zero bytes follow the last group, so that what else follows it is a group that was not
// written wholly.
//
// Recovery reads the segments from the last one's `oldest` on, and in the last one the groups up to the first
// that is not whole. Where a segment is missing, ends early, or a later group says that the broken one had
// been synced, the log is damaged and opening is refused: acknowledged writes are never dropped silently.
// That the last segment is missing, or all of them, no other one can say: a mark outside of the directory
// does (log_mark.h). It also notes, soon after, how far the last segment was synced, which no later group
// says.
//
// A segment whose sync failed is not trusted: the kernel reports such an error once, and then takes what it
// could not write for written. Nothing more is written to it, what of it was not known to be on the device is
// written again to a new segment, and its file is not reused.
//
// Used by one thread at a time; bytes() by any.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/rocksdb/disk.h"
#include "storage/rocksdb/log_mark.h"
#include "storage/rocksdb/space/disk_space.h"

namespace sibyl::storage::rocksdb {

struct SegmentHeader;  // log_format.h

class CommitLog {
 public:
  struct Options {
    std::string directory;  // exists
    uint64_t segment_bytes = 8 << 20;
    size_t kept_segments = 2;  // released ones that wait to be reused
    Disk* disk = &Disk::real();
    std::string mark;            // path of the log's mark, outside of the directory; empty for none
    DiskSpace* space = nullptr;  // gives up its reserve when a segment finds no room
  };
  // Called for each group, in order, and after the last one of a segment.
  struct Replay {
    std::function<base::Status(base::BytesView group)> group;
    std::function<void(uint64_t segment)> end_of_segment;
  };

  // What opening found.
  struct Recovered {
    uint64_t segments = 0, groups = 0;
    uint64_t bytes = 0;  // of the groups
    // The last group was not written wholly, and so is not in the log.
    struct Incomplete {
      std::string path;
      uint64_t offset = 0;
      uint64_t size = 0;  // as its header says
    };
    std::optional<Incomplete> incomplete;
  };

  static base::Result<std::unique_ptr<CommitLog>> open(Options options, const Replay& replay);
  ~CommitLog();
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // Adds a group, and waits for the device when `durable`. After an error the group is not in the log; should
  // the device refuse even to take it back, every later append takes it back first.
  base::Status append(base::BytesView group, bool durable);
  // Takes back the group that append() added last.
  base::Status undo();
  // Waits for the device to have everything.
  base::Status sync();
  // Notes outside of the log how much of it is on the device. Neither syncs nor fails.
  void note_synced();

  const Recovered& recovered() const { return recovered_; }

  // Whether groups are in the log that may not be on the device although a sync was tried. The next append or
  // sync moves them to a new segment; release_all() makes them unnecessary.
  bool is_doubtful() const { return !segments_.empty() && segments_.back().is_doubtful; }

  // The segment that append() added to.
  uint64_t segment() const { return segments_.empty() ? 0 : segments_.back().number; }
  // The groups of segments up to this one are needed no more. The current segment stays.
  void release(uint64_t number);
  // All groups are in the tables: the log begins anew.
  base::Status release_all();
  // Gives back the space of released segments now, and that of files that wait to be reused.
  base::Status trim();

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Segment {
    uint64_t number = 0;
    int file = -1;
    uint64_t size = 0;
    uint64_t salt = 0;
    uint64_t oldest = 0;       // the first segment that was still needed when this one's header was written
    bool is_doubtful = false;  // a sync failed
  };

  explicit CommitLog(Options options) : options_(std::move(options)), mark_(options_.mark, *options_.disk) {}
  base::Status recover(const Replay& replay);
  base::Status open_segments(std::vector<SegmentHeader>& headers, std::vector<std::string>& leftovers);
  base::Result<uint64_t> replay_segment(const Segment& segment, std::optional<uint64_t> expected_end,
                                        const Replay& replay);
  base::Status ready_for(uint64_t needed);
  base::Status start_segment(uint64_t needed, bool forget_older);
  base::Result<std::vector<base::Bytes>> unsynced_groups() const;
  int write_group(const Segment& segment, uint64_t offset, uint64_t synced, base::BytesView group) const;
  base::Status publish();
  base::Status set_mark(uint64_t number);
  base::Status take_back();
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
  LogMark mark_;  // of the segment that was written to last, before any of its groups is acknowledged
  std::deque<Segment> segments_;    // the last one is written to; all others are only kept
  std::deque<Segment> spares_;      // to be reused
  std::optional<Segment> pending_;  // has its name, but perhaps not yet on the device
  uint64_t pending_end_ = 0;        // where its groups end
  uint64_t released_ = 0;           // segments up to this number are not needed
  uint64_t next_number_ = 1;
  uint64_t end_ = 0;             // where the next group goes
  uint64_t synced_ = 0;          // what of the current segment is on the device
  uint64_t last_begin_ = 0;      // of the group added last
  bool must_take_back_ = false;  // beyond end_ may lie a group that never was
  bool must_leave_ = false;      // further beyond may lie whole ones, which a new group might end just before
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace sibyl::storage::rocksdb
