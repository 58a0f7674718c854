// Memory of blocks of data files, and turns for records that do not fit the block cache.
//
// A record is in one block, whatever its size, and a block that is larger than a shard of the cache is freed as soon as
// its reader has finished. Without turns, each of several readers of such a record would load a copy, while a
// compaction makes three more.
//
//  1. Statements have a turn while they have a large block. A statement waits for its turn before it reads the block
//     from the file, and is refused if it does not get it.
//  2. Threads of RocksDB have a turn from the time when they load or merge a large record until they have written it.
//     They also reserve the memory for it (large_records.h). They wait for a few seconds and are never refused.
#pragma once

#include <rocksdb/memory_allocator.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"
#include "base/reservation.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

// Thread-safe.
class LargeBlocks final : public ::rocksdb::MemoryAllocator {
 public:
  // Applies to blocks and records of at least `min_bytes`.
  explicit LargeBlocks(size_t min_bytes) : min_bytes_(min_bytes) {}

  const char* Name() const override { return "sibyl.large_blocks"; }
  // Waits for this thread's turn, at most for a second in a statement, and then allocates in any case. Reactors and
  // threads that have a turn do not wait.
  void* Allocate(size_t size) override;
  void Deallocate(void* block) override;

  // Call before `bytes` are read from a file. Returns the error with which the statement on this thread must end
  // instead: it did not get its turn or the memory within a second, or the thread must not be blocked.
  base::Status begin_read(size_t bytes) SIBYL_EXCLUDES(mutex_);

  // Call before a thread of RocksDB makes copies of a record, and when it has written the record. Returns an empty
  // reservation on other threads.
  base::MemoryReservation begin_record(size_t bytes, size_t copies) SIBYL_EXCLUDES(mutex_);
  void end_record() SIBYL_EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;
  struct Turn {
    size_t blocks = 0;        // of a statement
    Clock::time_point until;  // it also has a turn until then
  };

  // Waits until no other thread has a turn, and takes it. Returns false after `max_wait`; threads of RocksDB then take
  // a turn beside the others.
  bool take_turn(std::chrono::milliseconds max_wait, std::chrono::milliseconds lasts) SIBYL_EXCLUDES(mutex_);
  bool must_wait() const SIBYL_REQUIRES(mutex_);
  void add_block(void* start, bool has_turn) SIBYL_EXCLUDES(mutex_);
  void add_turn_to_blocks() SIBYL_EXCLUDES(mutex_);
  void remove_block(void* start) SIBYL_EXCLUDES(mutex_);

  const size_t min_bytes_;
  base::Mutex mutex_;
  base::CondVar freed_;
  std::unordered_map<std::thread::id, Turn> turns_ SIBYL_GUARDED_BY(mutex_);
  struct Loaded {
    std::thread::id by;
    bool has_turn = false;  // RocksDB allocates some blocks before it reads them
  };
  std::unordered_map<void*, Loaded> loaded_ SIBYL_GUARDED_BY(mutex_);  // blocks of statements
};

}  // namespace sibyl::storage::rocksdb
