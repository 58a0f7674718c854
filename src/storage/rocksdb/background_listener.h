// What RocksDB does in the background: how far the tables have been written to files, which compactions run,
// and whether any of it failed. Thread-safe.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/rocksdb/damage.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class BackgroundListener final : public ::rocksdb::EventListener {
 public:
  explicit BackgroundListener(std::shared_ptr<DamageReport> damage) : damage_(std::move(damage)) {}

  // Everything up to this sequence number is in files and needs no log.
  uint64_t flushed() const { return flushed_.load(); }

  // Whether writing a file failed, since that was forgotten last.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void forget_failure() { failed_ = false; }

  // The compactions that run; of their inputs only the names are known here.
  std::vector<StoreTask> tasks() const;
  // The numbers of flushes, compactions and errors.
  void fill(StoreStatistics& statistics) const;

  void OnFlushCompleted(::rocksdb::DB* database, const ::rocksdb::FlushJobInfo& info) override;
  void OnCompactionBegin(::rocksdb::DB* database, const ::rocksdb::CompactionJobInfo& info) override;
  void OnCompactionCompleted(::rocksdb::DB* database, const ::rocksdb::CompactionJobInfo& info) override;
  void OnBackgroundError(::rocksdb::BackgroundErrorReason reason, ::rocksdb::Status* status) override;

 private:
  base::SystemClock clock_;
  std::atomic<uint64_t> flushed_ = 0;
  std::atomic<bool> failed_ = false;
  const std::shared_ptr<DamageReport> damage_;
  std::atomic<uint64_t> flushes_ = 0, flush_bytes_ = 0, errors_ = 0;
  std::atomic<uint64_t> compactions_ = 0, compaction_read_ = 0, compaction_written_ = 0;
  mutable std::mutex mutex_;
  std::map<int, StoreTask> tasks_;  // by job; guarded by mutex_
};

}  // namespace sibyl::storage::rocksdb
