// The commit log of one server, which all of its shards share: a chain (log_chain.h) whose groups have parts
// of shards.
//
// The object "log/NAME" is the head of the log:
//
//   epoch   1, until another server seals the log
//   first   the first segment that may exist. Changed only by the writer, while the epoch is 1, and before it removes segments
//
//   group   parts; each: shard u32, epoch of the shard u64, size u32, then the bytes; little-endian
//
// The rules, besides those of the chain:
//
//  1. The writer creates the head, exclusively, before any shard may name the log. Sealing a log without a
//     head creates it sealed, so that its writer never begins.
//  2. Sealing seals the head, reads `first`, and then seals the segments from there on. The writer cannot
//     release a segment in between, so a missing segment is always the end.
//  3. A segment is released when no shard needs it: the groups of each shard in it are in the shard's tables.
//  4. Replay gives a shard only the parts with its number and the epoch at which the server owned it.
//  5. A log is removed when its server is gone and no shard names it any more. Two empty objects stay
//     (remove_log_segments()): the server may still run.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/log_summary.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/shared/log_chain.h"
#include "storage/rocksdb/write_log.h"

namespace sibyl::storage::rocksdb {

class ServerLog {
 public:
  struct Options {
    objects::ObjectStore* store = nullptr;  // must outlive the log
    std::string name;                       // REQUIRES: this name was never used before
    uint64_t segment_bytes = 8 << 20;
    uint64_t record_bytes = 8 << 20;
    std::chrono::milliseconds patience{300'000};
    // Called at most once, by append(), when the log cannot be used any more.
    std::function<void(objects::Reply)> on_lost;
    // Returns at least the highest timestamp that was assigned to a submitted record. It becomes part of
    // positions. May be empty.
    std::function<int64_t()> highest_timestamp;
  };
  struct Part {
    uint32_t shard = 0;
    uint64_t epoch = 0;
    base::BytesView group;
  };

  // Creates the head.
  static base::Result<std::unique_ptr<ServerLog>> create(Options options);

  // Appends the parts as one group: all of them are durable afterwards, or none. Errors as
  // WriteLog::append(). Used by one thread, like release_unneeded().
  base::Status append(std::span<const Part> parts);
  // Removes the segments that are not needed by any shard.
  void release_unneeded();

  // The log as one shard sees it: next_position() and the segments that the shard needs. append() is not
  // used. `replayed` describes the recovery from other logs. Must not outlive this log. Segments that the
  // shard still needs when the result is destroyed stay needed, because another server will replay them.
  std::unique_ptr<WriteLog> open_shard(uint32_t shard, uint64_t epoch, WriteLog::Recovered replayed);

  const std::string& name() const { return options_.name; }
  // Thread-safe.
  uint64_t bytes() const { return chain_.bytes(); }
  // A shard that needs the log, and the oldest segment that it needs.
  struct Need {
    uint64_t segment = 0;
    uint32_t shard = 0;
    auto operator<=>(const Need&) const = default;
  };
  std::vector<Need> needs() const;

 private:
  class ShardLog;
  explicit ServerLog(Options options);
  base::Bytes position(uint64_t epoch) const;
  void end(objects::Reply why);
  void release_up_to(uint32_t shard, uint64_t segment);

  const Options options_;
  LogChain chain_;
  uint64_t first_ = 1;
  bool is_ended_ = false;
  mutable base::Mutex mutex_;
  // For each shard, the segments with groups that may not be in the shard's tables yet.
  std::map<uint32_t, std::deque<uint64_t>> needed_ SIBYL_GUARDED_BY(mutex_);
};

// The contents of the log of a server that is gone.
struct DeadLog {
  struct Group {
    uint64_t sequence = 0;
    base::Bytes bytes;
  };
  uint64_t segments = 0;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Group>> groups;  // groups by shard and epoch
};
// Seals the log, so that its writer can append nothing any more, and reads it. Blocks.
base::Result<DeadLog> seal_and_read(objects::ObjectStore& store, const std::string& name,
                                    std::chrono::milliseconds patience);
// Removes a log that no shard needs, except its end: two empty objects. Run it again after an error. Blocks.
base::Status remove_log(objects::ObjectStore& store, const std::string& name,
                        std::chrono::milliseconds patience);

// Reads the extent of a log, without changing it. Its writer may continue meanwhile. A log that does not
// exist is empty. Blocks.
base::Result<LogSummary> summarise_log(objects::ObjectStore& store, const std::string& name);

}  // namespace sibyl::storage::rocksdb
