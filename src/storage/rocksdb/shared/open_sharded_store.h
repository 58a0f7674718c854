// Opens the store over the shards of a server on an object store.
//
// Each shard is a store on objects (shared_store.h) with files of its own. Its directory is "shard-NUMBER",
// of 8 digits. The shards of a server share one log (server_log.h), one thread that commits, the caches, and
// the memory for memory tables.
//
// Opening a shard replays the groups that its tables lack, from the logs of dead former owners, and flushes.
// Closing flushes. So each shard has groups in one log at a time. A write set over several shards is one
// group of the log. A shard is flushed when its oldest group is so far back in the log that the log would
// become larger than max_log_bytes; commits wait if flushing does not keep up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/rocksdb_store.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::storage::rocksdb {

struct ShardedStoreOptions {
  objects::ObjectStore* objects = nullptr;  // must outlive the store
  std::shared_ptr<const ShardMap> shards;   // the same on all servers
  std::string log;                          // the name of this server's log. REQUIRES: never used before
  uint64_t max_log_bytes = 256 << 20;       // bytes of groups that are not in all tables
  uint64_t memory_tables_bytes = 64 << 20;  // of all shards
  // Caches are shared by all shards; write_buffer_bytes is the limit of each shard.
  Options store;
  // If the outcome of an operation stays unknown for longer than this, the store ends. Until then, commits
  // wait.
  std::chrono::milliseconds patience{300'000};
  // Called at most once, on any thread, when another server has sealed the log or taken a shard over. This
  // server must then give up everything that it owns. Must not block.
  std::function<void(const std::string& why)> on_lost;
  std::function<void(uint32_t shard, uint64_t groups)> on_replayed;  // for tests
};

// Creates the log of the server. No shard is open yet. Blocks.
base::Result<std::unique_ptr<ShardedStore>> open_sharded_store(ShardedStoreOptions options);

}  // namespace sibyl::storage::rocksdb
