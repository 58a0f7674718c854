// The parts of a store that the owner of several shards drives (open_sharded_store.h).
#pragma once

#include <vector>

#include "storage/rocksdb/checkpoint.h"
#include "storage/rocksdb/group_writer.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class ShardParts {
 public:
  virtual ~ShardParts() = default;
  // Returns nullptr if the store was not opened by open_store() with ServerResources.
  static ShardParts* of(Store& store);
  // Used by the thread that commits.
  virtual GroupWriter& writer() = 0;
  // Resumes after failures and frees erased data. Call it about once a second, from one thread. May take as
  // long as a compaction.
  virtual void maintain() = 0;
  // Declares that the policy has dropped tables whose records were not erased, so that maintain() frees them.
  virtual void reclaim_dropped() = 0;
  // Ends running calls of compact() and refuses new ones.
  virtual void stop_compacting() = 0;
  // See checkpoint.h.
  virtual base::Result<std::vector<HeldFile>> hold_files() = 0;
  virtual void release_files() = 0;
  // Cancels running compactions and makes flushes fail. Data that is not in files stays in the log only.
  virtual void abandon() = 0;
};

}  // namespace sibyl::storage::rocksdb
