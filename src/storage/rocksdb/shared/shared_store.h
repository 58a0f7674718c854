// Opens the store on an object store: its tables are files of a directory there, its log is a chain of objects.
//
// A store is stateless: everything acknowledged is in the object store. Another process opens it under the same name with
// nothing else, takes it over, and this one stops. What an open does, in this order:
//
//  1. takes the directory over: raises its epoch, fences the client that had it, seals its MANIFEST;
//  2. opens the tables;
//  3. seals the log that the directory names, and replays what the tables lack;
//  4. flushes, so that nothing needs the old log;
//  5. names a new log and removes the old one.
//
// A crash between any two of them leaves a store that the same steps open.
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
  Options store;     // its disks, environment and `shared` are not used
  // How long commits wait for an operation whose outcome is unknown. After that the store ends.
  std::chrono::milliseconds patience{300'000};
  // Called at most once, on any thread: another process has taken the store over, or its storage cannot be reached.
  // Nothing more can be written, and reads may be stale: the process must end. Must not block.
  std::function<void(const std::string& why)> on_lost;
  std::function<void(uint64_t groups)> on_replayed;  // for tests
};

// Blocks. The store owns `objects`.
base::Result<std::unique_ptr<Store>> open_shared_store(std::unique_ptr<objects::ObjectStore> objects,
                                                       const SharedStoreOptions& options);

}  // namespace sibyl::storage::rocksdb
