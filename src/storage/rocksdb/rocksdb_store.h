// The default store: RocksDB's sorted tables under a commit log with group commit.
//
// Fragments are merge operands, so a write never reads. Compaction merges them and purges expired and
// shadowed data (storage/purger.h). A commit is durable when acknowledged: the committer writes all waiting
// write sets as one group to the commit log (commit_log.h), syncs once, and adds the group to the memory
// tables. Memory tables are flushed to files when they are full. Opening replays the part of the log that is
// not in files.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "storage/store.h"

namespace rocksdb {
class Env;
}

namespace sibyl::storage::rocksdb {

class Disk;
struct SharedStorage;

enum class Durability : uint8_t {
  synced,    // on the device when acknowledged
  periodic,  // passed to the operating system when acknowledged, on the device within sync_interval
};

struct Options {
  Durability durability = Durability::synced;
  std::chrono::milliseconds sync_interval{10'000};
  uint64_t block_cache_bytes = 32 << 20;  // includes index and filter blocks
  uint64_t row_cache_bytes = 8 << 20;     // merged records for point reads; 0: none
  // A memory table of this size is flushed. Up to three times as much is in memory.
  uint64_t write_buffer_bytes = 16 << 20;
  // Shrink both caches while the machine is short of memory (cache/memory_keeper.h).
  bool gives_back_memory = false;
  uint64_t queue_bytes = 64 << 20;  // bytes of waiting write sets; when full, commits are refused
  // The clock for expiry. Must outlive the store. nullptr: the system clock.
  base::Clock* clock = nullptr;

  // If set, the store's files and log are on shared storage instead of in a directory, and the disks below
  // are not used. Must outlive the store.
  std::shared_ptr<const SharedStorage> shared;

  // For tests: failing files (must outlive the store), and compaction only on request.
  ::rocksdb::Env* environment = nullptr;
  Disk* log_disk = nullptr;
  Disk* manifest_disk = nullptr;  // for SIBYL_MANIFEST
  uint64_t log_segment_bytes = 8 << 20;
  bool automatic_compaction = true;
};

base::Result<std::unique_ptr<Store>> open_store(const std::string& path, const Options& options = {});

// Cancels running calls of compact() and refuses new ones. Call it before closing the store; nothing is lost.
// Has no effect on stores that were not opened by open_store().
void stop_compacting(Store& store);

}  // namespace sibyl::storage::rocksdb
