// Adapts the merge law and the purger to RocksDB's interfaces.
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class LargeBlocks;

// Merges of 64 KiB and more are refused if the statement on this thread must not have their memory or time. RocksDB then
// reports corruption, and the reader must call take_refused_merge().
// Merges of large records in flushes and compactions take turns with `blocks`; nullptr: they do not.
std::shared_ptr<::rocksdb::MergeOperator> make_merge_operator(std::shared_ptr<LargeBlocks> blocks = nullptr);

// Records why a file is not read for the statement on this thread, as for a merge.
void refuse_read(base::Error error);
// Returns why a merge or a read on this thread was refused since the last call, and forgets it. Call after every
// operation that failed.
std::optional<base::Error> take_refused_merge();

// While one exists, larger merges on this thread are refused as well. They do not nest.
class MergeLimit {
 public:
  explicit MergeLimit(size_t max_bytes);
  ~MergeLimit();
  MergeLimit(const MergeLimit&) = delete;
  MergeLimit& operator=(const MergeLimit&) = delete;
};

// Tracks the readers of snapshots and iterators. RocksDB's compaction filters do not respect snapshots, so a
// compaction waits for the readers that started before it. If they remain, it purges nothing.
class Readers {
 public:
  uint64_t enter();
  void leave(uint64_t ticket);
  // Waits briefly for all readers that entered before this call. Returns true if all of them have left.
  bool wait_for_earlier();

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  uint64_t next_ticket_ = 0;
  std::set<uint64_t> tickets_;
};

// State that compactions need while the store is open. Thread-safe.
struct PurgeContext {
  base::Clock* clock = nullptr;
  int64_t settling_seconds = 0;  // see Purger
  Readers readers;

  std::shared_ptr<const PurgePolicy> policy() const;
  void set_policy(std::shared_ptr<const PurgePolicy> policy);
  // Null before the store is open and after it begins to close. Nothing is purged then.
  ::rocksdb::DB* database() const;
  void set_database(::rocksdb::DB* database);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const PurgePolicy> policy_;
  ::rocksdb::DB* database_ = nullptr;
};

// While an object exists, compactions run by its thread remove all records of these tables (ranges of ids,
// first to last) and change nothing else. REQUIRES: no reader remains that sees these records.
class ErasingCompactions {
 public:
  using Tables = std::vector<std::pair<uint32_t, uint32_t>>;
  explicit ErasingCompactions(Tables tables);
  ~ErasingCompactions();
  ErasingCompactions(const ErasingCompactions&) = delete;
  ErasingCompactions& operator=(const ErasingCompactions&) = delete;
};

std::shared_ptr<::rocksdb::CompactionFilterFactory> make_purging_filter(
    std::shared_ptr<PurgeContext> context);

}  // namespace sibyl::storage::rocksdb
