// What RocksDB does in the background: how far the tables have been written to files, which compactions run,
// and whether any of it failed. Thread-safe.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
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

  // Whether a compaction found no room, since this was asked last.
  bool take_lack_of_room() { return lacked_room_.exchange(false); }

  // The highest number of a table file that RocksDB has begun to write. All that a file of this or a lower
  // number holds was written to the tables before this call.
  uint64_t last_file() const { return last_file_.load(); }
  void set_last_file(uint64_t number);

  // Whether all that the file holds was written to the tables when last_file() was `last_file`: the file is
  // older, or compactions made it of such files.
  bool was_written_before(uint64_t file, uint64_t last_file) const;

  // While one lives no compaction begins, and none runs that reads a file above `last_file`. Flushes go on.
  class Pause {
   public:
    Pause(BackgroundListener& listener, uint64_t last_file, std::chrono::milliseconds patience);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    // False when one still ran after `patience`.
    bool holds() const { return holds_; }

   private:
    BackgroundListener& listener_;
    bool holds_ = false;
  };

  // The compactions that run; of their inputs only the names are known here.
  std::vector<StoreTask> tasks() const;
  // The numbers of flushes, compactions and errors.
  void fill(StoreStatistics& statistics) const;

  void OnFlushBegin(::rocksdb::DB* database, const ::rocksdb::FlushJobInfo& info) override;
  void OnFlushCompleted(::rocksdb::DB* database, const ::rocksdb::FlushJobInfo& info) override;
  void OnCompactionBegin(::rocksdb::DB* database, const ::rocksdb::CompactionJobInfo& info) override;
  void OnCompactionCompleted(::rocksdb::DB* database, const ::rocksdb::CompactionJobInfo& info) override;
  void OnBackgroundError(::rocksdb::BackgroundErrorReason reason, ::rocksdb::Status* status) override;
  void OnErrorRecoveryBegin(::rocksdb::BackgroundErrorReason reason, ::rocksdb::Status status,
                            bool* auto_recovery) override;
  void OnTableFileCreationStarted(const ::rocksdb::TableFileCreationBriefInfo& info) override;

 private:
  bool reads_above(uint64_t last_file) const;
  bool is_older(uint64_t file, uint64_t last_file) const;

  base::SystemClock clock_;
  std::atomic<uint64_t> flushed_ = 0;
  std::atomic<bool> failed_ = false;
  const std::shared_ptr<DamageReport> damage_;
  std::atomic<uint64_t> flushes_ = 0, flush_bytes_ = 0, errors_ = 0;
  std::atomic<uint64_t> compactions_ = 0, compaction_read_ = 0, compaction_written_ = 0;
  std::atomic<bool> lacked_room_ = false;
  std::atomic<uint64_t> last_file_ = 1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, StoreTask> tasks_;  // by job; guarded by mutex_
  int pauses_ = 0;                  // guarded by mutex_
  // The last compactions, as numbers of files; guarded by mutex_.
  struct Ended {
    std::vector<uint64_t> inputs, outputs;
  };
  std::deque<Ended> ended_;
};

// The number of a table file, by its name or path; 0 for other files.
uint64_t table_file_number(std::string_view path);

}  // namespace sibyl::storage::rocksdb
