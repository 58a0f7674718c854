// Holds the shards of a server in a ShardedStore.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "cluster/ownership.h"
#include "storage/sharded_store.h"

namespace sibyl::cluster {

// The work blocks, so it runs on threads of this object. Callbacks are tasks of the executor. Calls for one
// shard run in their order. Used by the executor's thread, like Ownership.
class StoreShardHost final : public ShardHost {
 public:
  // Both must outlive this object. The executor's run_after() must be thread-safe. The log of a member has
  // the name to_string(id).
  StoreShardHost(storage::ShardedStore& store, base::Executor& executor, size_t threads = 4);
  // Waits for work that has begun. Callbacks are not called afterwards.
  ~StoreShardHost() override;

  void open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) override;
  void flush(uint32_t shard, Done done) override;
  void close(uint32_t shard, Done done) override;
  void drop(uint32_t shard) override;

 private:
  using Work = std::function<base::Status()>;
  // The time from an open() to the next drop().
  struct Tenure {
    std::atomic<bool> is_over = false;
  };
  struct Job {
    Work work;
    Done done;
    std::shared_ptr<Tenure> tenure;
  };

  void submit(uint32_t shard, Work work, Done done) SIBYL_EXCLUDES(mutex_);
  void loop() SIBYL_EXCLUDES(mutex_);
  bool take(uint32_t& shard, Job& job) SIBYL_REQUIRES(mutex_);
  void finish(Job job, base::Status status);

  storage::ShardedStore& store_;
  base::Executor& executor_;
  std::map<uint32_t, std::shared_ptr<Tenure>> tenures_;  // by shard

  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::map<uint32_t, std::deque<Job>> jobs_ SIBYL_GUARDED_BY(mutex_);  // by shard
  std::set<uint32_t> running_ SIBYL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::cluster
