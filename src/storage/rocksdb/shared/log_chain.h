// A log of groups on an object store: a chain of records in segments, which another server can end.
//
// A log has a name that is never used again. Its segments are objects, "log/NAME/NUMBER". Each has two
// attributes: `epoch`, which is 1 until another server seals the log, and `sequence`, the number of the last
// record.
//
//   record   crc u32, size u32, sequence u64, epoch of the shard u64 (0 in logs of many shards), flags u32, then the bytes;
//            little-endian
//
// The rules:
//
//  1. Records form a chain: an append compares the epoch and the sequence n - 1, appends, and sets n, in one
//     mutation. A record whose outcome was unknown is therefore never applied late or twice, and no record is
//     missing in the middle.
//  2. If the outcome is unknown, the same append is repeated until it is known; nothing else is written
//     meanwhile. If it is refused, the attributes tell whether an earlier attempt was applied or another
//     server has sealed the log. If the storage is full after an attempt whose outcome is unknown, an empty
//     record, marked as cancelled, takes its number.
//  3. The first record of a segment creates it, exclusively.
//  4. Sealing raises the epoch of each segment, and then creates a sealed segment after the last one, as the
//     end. If the writer has created that segment meanwhile, it is sealed as well. The writer can neither
//     append nor continue with a new segment. Only then is a segment read. Several servers may seal a log at
//     the same time.
//  5. A group that is larger than one mutation is several records; it counts only if its last record exists.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/log_summary.h"
#include "storage/objects/files/repeat.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::rocksdb {

// Used by one thread at a time, except for functions marked as thread-safe.
class LogChain {
 public:
  struct Options {
    objects::ObjectStore* store = nullptr;  // must outlive the log
    std::string name;
    uint64_t shard_epoch = 0;  // of each record
    uint64_t segment_bytes = 8 << 20;
    uint64_t record_bytes = 8 << 20;  // larger groups are several records
    std::chrono::milliseconds patience{300'000};
  };
  explicit LogChain(Options options) : options_(std::move(options)) {}

  const std::string& name() const { return options_.name; }
  // Appends a group, which is durable afterwards. Refused: the group is not in the log. Unknown: the log
  // cannot be used any more, and only a replay shows whether it has the group.
  objects::Reply append(base::BytesView group);
  // The number of the next record, and a lower bound of the segment that it will be in.
  uint64_t next_sequence() const { return sequence_ + 1; }
  uint64_t next_segment() const { return std::max<uint64_t>(segment_, 1); }
  // The segment of the last record. Thread-safe.
  uint64_t segment() const { return segment_; }
  // Removes the segments up to `number` except the current one, without waiting.
  void release(uint64_t number);
  // The size of the segments that are not released. Thread-safe.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  uint64_t segment_for(uint64_t bytes) const;
  objects::Mutation mutation_of(uint64_t segment, base::BytesView part, uint8_t flags) const;
  objects::Reply append_record(uint64_t segment, base::BytesView part, uint8_t flags);
  objects::ChainReply resolve(uint64_t segment) const;

  const Options options_;
  uint64_t sequence_ = 0;              // number of the last record
  std::atomic<uint64_t> segment_ = 0;  // segment of the last record
  uint64_t segment_size_ = 0;
  std::map<uint64_t, uint64_t> sizes_;  // sizes of the segments that are not released
  // Segments whose creation was in doubt: a copy of the mutation may still arrive. If the segment did not
  // exist, the copy would create it again.
  std::set<uint64_t> created_in_doubt_;
  std::atomic<uint64_t> bytes_ = 0;
};

inline constexpr uint64_t max_log_group_bytes = 64 << 20;  // Ceph limits objects to 128 MiB

// The position where a replay begins.
struct LogStart {
  uint64_t segment = 1;
  uint64_t sequence = 0;         // groups that begin with this record or an earlier one are not replayed
  bool may_be_released = false;  // the segment may be missing, if all groups to be replayed are after it
  bool must_follow = true;       // if the first record is after `sequence` + 1, the log is damaged
};
struct SealedLog {
  uint64_t first = 1;     // the first segment that exists
  uint64_t segments = 0;  // number of segments read
  uint64_t last_sequence = 0;
};
// Seals the log and calls `group` for each group, in order, with the number of its first record. Blocks.
base::Result<SealedLog> seal_and_replay(
    objects::ObjectStore& store, const std::string& log, const LogStart& start,
    std::chrono::milliseconds patience,
    const std::function<base::Status(uint64_t sequence, base::BytesView group)>& group);

// Seals the log, and removes its segments from `first` on, and any left over before `first`. The last two
// segments stay for ever, without data. Without the last one, a removed server that still runs could create
// that segment and acknowledge writes that will never be replayed. Without the one before, a late copy of the
// mutation that created it could create it again, unsealed. Blocks.
base::Status remove_log_segments(objects::ObjectStore& store, const std::string& log, uint64_t first,
                                 std::chrono::milliseconds patience);

// Reads the extent of the segments from `first` on, without changing them. Blocks.
base::Result<LogSummary> summarise_segments(objects::ObjectStore& store, const std::string& log,
                                            uint64_t first);

base::Error damaged_log(const std::string& object, const std::string& why);
base::Error group_too_large();
// Returns the error for writers whose append was not done.
base::Error log_error(objects::Reply reply);

}  // namespace sibyl::storage::rocksdb
