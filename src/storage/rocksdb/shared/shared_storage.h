// The place of a store that is not in a local directory.
#pragma once

#include <memory>

#include "storage/partition_sample.h"
#include "storage/rocksdb/write_log.h"

namespace rocksdb {
class FileSystem;
}

namespace sibyl::storage::rocksdb {

struct ServerResources;

// The path under which RocksDB sees the files.
inline constexpr const char* object_path = "/objects";

// Derive from it to own what the functions use. Destroyed after the store's tables and log.
struct SharedStorage {
  virtual ~SharedStorage() = default;
  std::shared_ptr<::rocksdb::FileSystem> files;
  // Called once by each open, after the tables are open.
  OpenLog open_log;
  // If set, this store is one of several shards. Their owner commits and maintains them (shard_parts.h). Must
  // outlive the store.
  ServerResources* server = nullptr;
  TokenSpan tokens;  // of all partitions
};

}  // namespace sibyl::storage::rocksdb
