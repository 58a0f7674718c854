// Opens the store on an object store: its tables are files of a directory there, its log is a chain of
// objects.
//
// A store is stateless: everything acknowledged is in the object store. Another process that opens it under
// the same name takes it over, and this one stops. An open does this, in order:
//
//  1. takes the directory over: raises its epoch, fences the client that had it, and seals its MANIFEST;
//  2. opens the tables;
//  3. seals the log that the directory names, and replays the groups that the tables lack;
//  4. flushes, so that the old log is not needed any more;
//  5. names a new log and removes the old one.
//
// After a crash between any two steps, the same steps open the store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/rocksdb_store.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

struct SharedStoreOptions {
  std::string name;  // of the shard
  Options store;     // settings of the store; its disks, environment and `shared` are not used
  // How long commits wait for an operation with an unknown outcome. After that the store ends.
  std::chrono::milliseconds patience{300'000};
  // Called at most once, on any thread, when another process has taken the store over or its storage cannot
  // be reached. Writes fail from now on, and reads may be stale, so the process must end. Must not block.
  std::function<void(const std::string& why)> on_lost;
  std::function<void(uint64_t groups)> on_replayed;  // for tests
};

// Blocks. The store owns `objects`.
base::Result<std::unique_ptr<Store>> open_shared_store(std::unique_ptr<objects::ObjectStore> objects,
                                                       const SharedStoreOptions& options);

}  // namespace sibyl::storage::rocksdb
