#include "cluster/hosting/store_shard_host.h"

#include <pthread.h>

#include <utility>

#include "base/contain.h"

namespace sibyl::cluster {

using storage::FormerLog;

StoreShardHost::StoreShardHost(storage::ShardedStore& store, base::Executor& executor, size_t threads)
    : store_(store), executor_(executor) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { loop(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-hosting");
  }
}

StoreShardHost::~StoreShardHost() {
  for (const auto& [shard, tenure] : tenures_) tenure->is_over = true;
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// If drop() is called while this runs, there is nothing to drop yet.
void StoreShardHost::open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) {
  const auto tenure = tenures_[shard] = std::make_shared<Tenure>();
  std::vector<FormerLog> former;
  for (const LogPart& part : logs) former.push_back({to_string(part.log), part.epoch});
  Work work = [this, shard, epoch, former = std::move(former), tenure]() -> base::Status {
    if (tenure->is_over) return {};
    SIBYL_TRY(store_.open_shard(shard, epoch, former));
    if (tenure->is_over) store_.drop_shard(shard);
    return {};
  };
  submit(shard, std::move(work), std::move(done));
}

void StoreShardHost::flush(uint32_t shard, Done done) {
  submit(shard, [this, shard] { return store_.flush_shard(shard); }, std::move(done));
}

void StoreShardHost::close(uint32_t shard, Done done) {
  submit(shard, [this, shard] { return store_.close_shard(shard); }, std::move(done));
}

void StoreShardHost::drop(uint32_t shard) {
  const auto found = tenures_.find(shard);
  if (found == tenures_.end()) return;
  found->second->is_over = true;
  tenures_.erase(found);
  store_.drop_shard(shard);
}

void StoreShardHost::submit(uint32_t shard, Work work, Done done) {
  {
    const base::MutexLock lock(mutex_);
    jobs_[shard].push_back({std::move(work), std::move(done), tenures_.at(shard)});
  }
  changed_.notify_one();
}

// Returns false if all shards with jobs are busy.
bool StoreShardHost::take(uint32_t& shard, Job& job) {
  for (auto& [number, jobs] : jobs_) {
    if (jobs.empty() || running_.contains(number)) continue;
    shard = number;
    job = std::move(jobs.front());
    jobs.pop_front();
    running_.insert(number);
    return true;
  }
  return false;
}

void StoreShardHost::loop() {
  base::MutexLock lock(mutex_);
  while (!is_stopping_) {
    uint32_t shard = 0;
    Job job;
    if (!take(shard, job)) {
      changed_.wait(mutex_);
      continue;
    }
    lock.unlock();
    base::Status status;
    if (!job.tenure->is_over) status = base::contain(job.work);
    finish(std::move(job), std::move(status));
    lock.lock();
    running_.erase(shard);
    changed_.notify_one();
  }
}

void StoreShardHost::finish(Job job, base::Status status) {
  executor_.run_after(0, [job = std::move(job), status = std::move(status)]() mutable {
    if (!job.tenure->is_over) job.done(std::move(status));
  });
}

}  // namespace sibyl::cluster
