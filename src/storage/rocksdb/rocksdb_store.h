// The default store: RocksDB's sorted tables under a commit log with group commit.
//
// Fragments are merge operands, so a write never reads; compaction merges them and purges what is expired or
// shadowed (storage/purger.h). A commit is durable when acknowledged: the committer writes all that waits as
// one group to the commit log (commit_log.h), syncs once, and adds it to the tables. The tables are written
// to files when they are full; opening replays what the log has beyond them.
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

enum class Durability : uint8_t {
  synced,    // on the device when acknowledged
  periodic,  // with the operating system when acknowledged, on the device within sync_interval
};

struct Options {
  Durability durability = Durability::synced;
  std::chrono::milliseconds sync_interval{10'000};
  uint64_t block_cache_bytes = 32 << 20;  // index and filter blocks included
  uint64_t write_buffer_bytes = 16 << 20;
  uint64_t queue_bytes = 64 << 20;  // of write sets that wait; beyond, commits are refused as overloaded
  base::Clock* clock = nullptr;     // what has expired; must outlive the store; nullptr: the system's

  // Seams for tests: files that fail (must outlive the store), and compaction only when asked for.
  ::rocksdb::Env* environment = nullptr;
  Disk* log_disk = nullptr;
  Disk* manifest_disk = nullptr;  // of SIBYL_MANIFEST
  uint64_t log_segment_bytes = 8 << 20;
  bool automatic_compaction = true;
};

base::Result<std::unique_ptr<Store>> open_store(const std::string& path, const Options& options = {});

// Ends the calls of compact() that run, and from now on refuses others: before the store is closed. Nothing
// is lost by it. Stores that are not open_store's have none that take long.
void stop_compacting(Store& store);

}  // namespace sibyl::storage::rocksdb
