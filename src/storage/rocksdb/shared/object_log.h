// The commit log of one server on an object store.
//
// A log is used by one opening of a store, under a name that is never used again. Its segments are objects,
// "log/NAME/NUMBER". Each has two attributes: `epoch`, which is 1 until another server takes the log over, and `sequence`,
// the number of the last record.
//
//   record   crc u32, size u32, sequence u64, epoch of the shard u64, flags u32, then the bytes; little-endian
//
// The rules:
//
//  1. Records form a chain: an append compares the epoch and the sequence n - 1, appends, and sets n, in one mutation. A
//     record whose outcome was unknown is therefore never applied late or twice, and no record is missing in the middle.
//  2. If the outcome is unknown, the same append is repeated until it is known; nothing else is written meanwhile. If it is
//     refused, the attributes tell whether an earlier attempt was applied or another server has sealed the log.
//  3. The first record of a segment creates it, exclusively.
//  4. A takeover seals: it raises the epoch of each segment, and then creates the one after the last as sealed. If that exists
//     meanwhile, it is sealed as well. The writer can neither append nor continue with a new segment. Only then is a segment
//     read.
//  5. A group that is larger than one mutation is several records; it counts only if the last one is there.
//  6. The tables hold the position of the last group that they contain, because every group sets it. Replay applies what follows
//     it, and only records of the log that the shard names.
//
// The shard's directory names its log, in the file SIBYL_LOG: the current one, then those to be removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/objects/files/object_directory.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/write_log.h"

namespace sibyl::storage::rocksdb {

// Which groups the tables hold: all up to the one that begins with this record.
struct LogPosition {
  std::string log;
  uint64_t segment = 0;  // not above that of the record
  uint64_t sequence = 0;
  uint64_t shard_epoch = 0;

  bool operator==(const LogPosition&) const = default;
};
base::Bytes encode(const LogPosition& position);
std::optional<LogPosition> parse_log_position(base::BytesView bytes);

class ObjectLog final : public WriteLog {
 public:
  struct Options {
    objects::ObjectDirectory* directory = nullptr;  // the shard's; must outlive the log
    uint64_t segment_bytes = 8 << 20;
    uint64_t record_bytes = 8 << 20;  // larger groups are several records
  };

  // Seals the log that the shard names, and replays what follows `position`.
  static base::Result<std::unique_ptr<ObjectLog>> open(Options options, const Replay& replay,
                                                       base::BytesView position);

  base::Status begin() override;
  base::Bytes next_position() const override;
  base::Status append(base::BytesView group, bool durable) override;
  base::Status undo() override;
  bool can_undo() const override { return false; }
  base::Status sync() override { return {}; }
  void note_synced() override {}
  bool sync_failed() const override { return false; }

  uint64_t segment() const override { return segment_; }
  void release(uint64_t number) override;
  base::Status release_all() override;
  base::Status trim() override { return {}; }

  const Recovered& recovered() const override { return recovered_; }
  uint64_t bytes() const override { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct OldLog {
    std::string name;
    uint64_t first = 1;  // segment
  };

  explicit ObjectLog(Options options);
  objects::ObjectStore& store() const { return options_.directory->store(); }
  base::Status recover(const Replay& replay, base::BytesView position);
  base::Status replay_log(OldLog& old, const std::optional<LogPosition>& position, const Replay& replay);
  base::Result<bool> seal(const std::string& object) const;
  base::Status replay_segment(const std::string& object, uint64_t after, uint64_t& sequence,
                              const Replay& replay);
  base::Result<base::Bytes> read_whole(const std::string& object) const;
  uint64_t next_segment(uint64_t bytes) const;
  objects::Reply append_record(uint64_t segment, base::BytesView part, uint8_t flags);
  objects::Reply resolve(uint64_t segment) const;
  void remove(const OldLog& old) const;

  const Options options_;
  const std::string name_;
  std::vector<OldLog> old_logs_;
  Recovered recovered_;
  uint64_t sequence_ = 0;  // of the last record
  uint64_t segment_ = 0;   // of the last record
  uint64_t segment_size_ = 0;
  std::map<uint64_t, uint64_t> sizes_;  // of the segments that are not released
  bool is_ended_ = false;               // after an unresolved append, or a fence
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace sibyl::storage::rocksdb
