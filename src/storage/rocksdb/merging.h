// The merge law and the purger, as RocksDB calls them.
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

std::shared_ptr<::rocksdb::MergeOperator> make_merge_operator();

// Who reads an old moment. RocksDB's compaction filters do not respect its snapshots, so a compaction waits
// for the readers that were there before it, and purges nothing when they stay.
class Readers {
 public:
  uint64_t enter();
  void leave(uint64_t ticket);
  // Whether all who entered before this call have left, or do so soon.
  bool wait_for_earlier();

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  uint64_t next_ticket_ = 0;
  std::set<uint64_t> tickets_;
};

// What compactions ask while the store is open. Thread-safe.
struct PurgeContext {
  base::Clock* clock = nullptr;
  int64_t settling_seconds = 0;  // see Purger
  Readers readers;

  std::shared_ptr<const PurgePolicy> policy() const;
  void set_policy(std::shared_ptr<const PurgePolicy> policy);
  // Null until the store is open and again before it closes: then nothing is purged.
  ::rocksdb::DB* database() const;
  void set_database(::rocksdb::DB* database);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const PurgePolicy> policy_;
  ::rocksdb::DB* database_ = nullptr;
};

// While one lives, compactions that its thread runs leave out all records of these tables, ids from first to
// last, and change nothing else. REQUIRES: no reader is left that sees them.
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
