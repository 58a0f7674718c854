// Tracks RocksDB's background work: how far memory tables have been flushed, which compactions run, and
// whether any of it failed. Requests flushes, and resumes work after failures. Thread-safe.
#pragma once

#include <rocksdb/db.h>
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

  // Everything up to this sequence number is in table files and no longer needs the log.
  uint64_t flushed() const { return flushed_.load(); }

  // True if writing a file has failed since the last forget_failure().
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void forget_failure() { failed_ = false; }

  // Flushes the memory tables. Waits while another thread flushes or resumes; unless `options.wait`, returns
  // TryAgain instead.
  ::rocksdb::Status flush(::rocksdb::DB& database, const ::rocksdb::FlushOptions& options);
  // Calls CompactRange(), which flushes the memory tables first. Waits while another thread flushes or resumes.
  // nullptr: no bound.
  ::rocksdb::Status compact(::rocksdb::DB& database, const ::rocksdb::CompactRangeOptions& options,
                            const ::rocksdb::Slice* begin, const ::rocksdb::Slice* end);
  // Calls Resume(), after forget_failure(). Returns Busy while another thread flushes or resumes, and while a
  // flush or compaction runs.
  ::rocksdb::Status resume(::rocksdb::DB& database);

  // Returns true if a compaction ran out of space since the last call.
  bool take_space_shortage() { return had_space_shortage_.exchange(false); }

  // The highest number of a table file that RocksDB has begun to write. The contents of files up to this
  // number were written to the memory tables before this call.
  uint64_t last_file() const { return last_file_.load(); }
  void set_last_file(uint64_t number);

  // Returns true if the whole content of `file` was in the memory tables when last_file() returned
  // `last_file`: the file is older, or compactions produced it from such files.
  bool was_written_before(uint64_t file, uint64_t last_file) const;

  // While an object exists, no compaction starts, and no running compaction reads a file above `last_file`.
  // Flushes continue.
  class Pause {
   public:
    Pause(BackgroundListener& listener, uint64_t last_file, std::chrono::milliseconds patience);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    // False if such a compaction was still running after `patience`.
    bool holds() const { return holds_; }

   private:
    BackgroundListener& listener_;
    bool holds_ = false;
  };

  // The running compactions. Of their input files only the names are filled in.
  std::vector<StoreTask> tasks() const;
  // Fills in the counts of flushes, compactions and errors.
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
  // Held during Flush() and Resume(). RocksDB 7.8 loses a flush that it has scheduled while Resume() runs, if
  // Resume() fails before the flush starts: it stays in the queue, and no thread will run it. Every later
  // Resume() then waits for it forever. So no other flush may be requested or fail meanwhile.
  std::mutex flush_mutex_;
  // Calls of compact(). Incremented while flush_mutex_ is held, so that Resume() never runs beside one.
  std::atomic<int> compacting_ = 0;
  std::atomic<uint64_t> flushed_ = 0;
  std::atomic<bool> failed_ = false;
  const std::shared_ptr<DamageReport> damage_;
  std::atomic<uint64_t> flushes_ = 0, flush_bytes_ = 0, errors_ = 0;
  std::atomic<uint64_t> compactions_ = 0, compaction_read_ = 0, compaction_written_ = 0;
  std::atomic<bool> had_space_shortage_ = false;
  std::atomic<uint64_t> last_file_ = 1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, StoreTask> tasks_;  // running tasks by job id; guarded by mutex_
  int pauses_ = 0;                  // guarded by mutex_
  // The most recent compactions, as file numbers; guarded by mutex_.
  struct Ended {
    std::vector<uint64_t> inputs, outputs;
  };
  std::deque<Ended> ended_;
};

// Returns the number of a table file from its name or path; 0 for other files.
uint64_t table_file_number(std::string_view path);

}  // namespace sibyl::storage::rocksdb
