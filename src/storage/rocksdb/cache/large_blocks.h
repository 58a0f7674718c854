// Memory of blocks of data files. Statements load blocks that are too large for the cache one after the
// other.
//
// A record is in one block, whatever its size, and a block that is larger than a shard of the cache is freed
// as soon as its reader has finished. Without this, each of several readers of such a record would load a
// copy.
#pragma once

#include <rocksdb/memory_allocator.h>

#include <cstddef>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"

namespace sibyl::storage::rocksdb {

// Thread-safe.
class LargeBlocks final : public ::rocksdb::MemoryAllocator {
 public:
  // Applies only to blocks of at least `min_bytes`.
  explicit LargeBlocks(size_t min_bytes) : min_bytes_(min_bytes) {}

  const char* Name() const override { return "sibyl.large_blocks"; }
  // A statement waits until another one's large block has been freed, at most for a second. Reactors,
  // compactions and threads that hold a large block do not wait.
  void* Allocate(size_t size) override;
  void Deallocate(void* block) override;

 private:
  void wait() SIBYL_EXCLUDES(mutex_);
  bool must_wait() const SIBYL_REQUIRES(mutex_);

  const size_t min_bytes_;
  base::Mutex mutex_;
  base::CondVar freed_;
  // The threads whose statements have loaded large blocks, once for each block.
  std::unordered_map<void*, std::thread::id> loaded_ SIBYL_GUARDED_BY(mutex_);
  int loading_ SIBYL_GUARDED_BY(mutex_) = 0;  // blocks that statements are about to allocate
};

}  // namespace sibyl::storage::rocksdb
