// Commits write sets to the shards of a server: one thread, and one group of the log for all that wait.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/histogram.h"
#include "base/mutex.h"
#include "storage/rocksdb/cache/row_cache.h"
#include "storage/rocksdb/committer.h"
#include "storage/rocksdb/shared/open_shards.h"
#include "storage/rocksdb/shared/server_log.h"
#include "storage/shard_map.h"

namespace sibyl::storage::rocksdb {

// Makes write sets over several shards visible at once. A reader calls wait() or locks mutex() before it
// reads.
class ShardVisibility {
 public:
  // For reads of one shard. Afterwards, a read sees either all of a write set or nothing of it.
  void wait() const {
    if (is_busy_.load(std::memory_order_acquire)) const base::ReaderLock lock(mutex_);
  }
  // Locked while the reads of several shards begin.
  base::SharedMutex& mutex() const { return mutex_; }

  void begin() SIBYL_UNCHECKED_LOCKING {  // end() unlocks it
    is_busy_.store(true, std::memory_order_release);
    mutex_.lock();
  }
  void end() SIBYL_UNCHECKED_LOCKING {
    mutex_.unlock();
    is_busy_.store(false, std::memory_order_release);
  }

 private:
  mutable base::SharedMutex mutex_;
  std::atomic<bool> is_busy_ = false;
};

// Thread-safe.
class ShardCommits {
 public:
  // Borrows all of these; they must outlive it.
  struct Parts {
    const ShardMap& shards;
    OpenShards& open;
    ServerLog& log;
    RowCache* row_cache = nullptr;  // nullptr: none
    ShardVisibility& visibility;
    std::function<base::Error(uint32_t shard)> not_here;
    std::function<void()> request_flush;  // requests a flush of shards that keep the log from being released
    uint64_t max_log_bytes = 0;           // with more bytes in the log, commits wait for flushes
    uint64_t queue_bytes = 0;
  };
  explicit ShardCommits(Parts parts);

  void submit(WriteSet writes, Store::Done done) { committer_->submit(std::move(writes), std::move(done)); }
  // Runs a task on the thread, after the commits that were submitted before.
  void post(std::function<void()> task) SIBYL_EXCLUDES(mutex_);
  // Completes everything that waits, then ends the thread.
  void stop() { committer_.reset(); }

  void fill(StoreStatistics& statistics) const;
  std::chrono::microseconds sync_time() const { return sync_time_.load(std::memory_order_relaxed); }

 private:
  struct Target {
    OpenShards::Use shard;
    base::Status status;  // status of begin_group(), and then of finish_group()
    bool is_written = false;
  };
  base::Status write(std::span<Committer::Request> group);
  void run_posted() SIBYL_EXCLUDES(mutex_);
  base::Status wait_for_log();
  base::Status route(const WriteSet& writes);
  void gather(const WriteSet& writes);
  template <typename Function>
  void for_each_shard(const WriteSet::Operation& operation, Function function) const;
  Target& target(uint32_t shard);
  base::Status append();
  void apply(const base::Status& logged);
  base::Status status_of(const WriteSet& writes) const;
  void record_sync(std::chrono::microseconds taken);
  void count(std::span<const Committer::Request> group);

  const Parts parts_;
  // The shards of the current group. Used by the thread only.
  std::map<uint32_t, Target> targets_;
  bool has_write_over_shards_ = false;

  std::atomic<uint64_t> groups_ = 0, commits_ = 0;
  base::Histogram group_sizes_;
  base::Mutex mutex_;
  std::vector<std::function<void()>> posted_ SIBYL_GUARDED_BY(mutex_);
  base::Histogram sync_micros_;
  std::atomic<std::chrono::microseconds> sync_time_{};
  std::unique_ptr<Committer> committer_;  // declared last, because its thread uses the other members
};

}  // namespace sibyl::storage::rocksdb
