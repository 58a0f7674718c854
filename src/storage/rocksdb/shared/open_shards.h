// The shards that are open on a server, and their uses.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "storage/objects/files/object_directory.h"
#include "storage/rocksdb/shared/shard_parts.h"
#include "storage/rocksdb/shared/shared_storage.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

struct OpenShard {
  uint32_t number = 0;
  uint64_t epoch = 0;
  std::unique_ptr<objects::ObjectDirectory> directory;
  std::shared_ptr<SharedStorage> storage;
  std::unique_ptr<Store> store;
  ShardParts* parts = nullptr;  // of the store

  std::atomic<bool> is_closing = false;  // no new requests
  std::atomic<bool> is_closed = false;   // no new reads and commits
  std::atomic<bool> is_awaited = false;  // wait_unused() waits
  std::atomic<uint64_t> uses = 0;
};

// Thread-safe.
class OpenShards {
 public:
  explicit OpenShards(uint32_t count) : shards_(count) {}

  // Keeps a shard from being closed. Must not outlive the table.
  class Use {
   public:
    Use() = default;
    Use(OpenShards* table, std::shared_ptr<OpenShard> shard) : table_(table), shard_(std::move(shard)) {}
    Use(Use&& other) noexcept : table_(other.table_), shard_(std::move(other.shard_)) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(shard_, other.shard_);
      return *this;
    }
    ~Use();
    explicit operator bool() const { return shard_ != nullptr; }
    OpenShard* operator->() const { return shard_.get(); }

   private:
    OpenShards* table_ = nullptr;
    std::shared_ptr<OpenShard> shard_;
  };

  // Returns an empty Use if the shard is closed or, with `is_request`, if it is closing.
  Use find(uint32_t shard, bool is_request = false);
  // Returns a Use of every shard that find() would find.
  std::vector<Use> all();
  // Returns the shard, also while it closes; nullptr if it is not open. For the code that closes it.
  std::shared_ptr<OpenShard> at(uint32_t shard) const;
  bool is_open(uint32_t shard) const { return at(shard) != nullptr; }

  void add(std::shared_ptr<OpenShard> shard);
  // Removes the shard from the table. If it is in use, it is kept until its last use ends. Returns nullptr if
  // it was not open.
  std::shared_ptr<OpenShard> retire(uint32_t shard);
  // Refuses new requests at once, and everything else from a moment at which the shard is not in use. So a
  // thread that holds a use, for example by an iterator, can get further uses. If they were refused, both
  // sides would wait for each other. If the shard is still in use after `patience`, all further uses are
  // refused. Blocks until the last use is released.
  void close(OpenShard& shard, std::chrono::milliseconds patience);
  // Blocks until neither this shard nor an earlier opening of it is in use.
  void wait_unused(uint32_t shard);
  // Returns and forgets retired shards that are not in use.
  std::vector<std::shared_ptr<OpenShard>> take_unused();

 private:
  void finish_use(OpenShard& shard);
  bool is_used(uint32_t shard) const SIBYL_REQUIRES(waiting_);
  bool close_if_unused(OpenShard& shard) SIBYL_REQUIRES(waiting_);

  mutable base::SharedMutex mutex_;
  std::vector<std::shared_ptr<OpenShard>> shards_ SIBYL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<OpenShard>> retired_ SIBYL_GUARDED_BY(mutex_);
  base::Mutex waiting_;
  base::CondVar unused_;
};

}  // namespace sibyl::storage::rocksdb
