#include "storage/rocksdb/shared/shard_commits.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/contain.h"

namespace sibyl::storage::rocksdb {

using std::chrono::microseconds;
using SteadyClock = std::chrono::steady_clock;

ShardCommits::ShardCommits(Parts parts) : parts_(std::move(parts)) {
  Committer::Work work;
  work.write = [this](std::span<Committer::Request> group) { return write(group); };
  work.queue_bytes = parts_.queue_bytes;
  committer_ = std::make_unique<Committer>(std::move(work));
}

void ShardCommits::post(std::function<void()> task) {
  {
    const base::MutexLock lock(mutex_);
    posted_.push_back(std::move(task));
  }
  committer_->submit({}, [](const base::Status&) {});
}

void ShardCommits::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const base::MutexLock lock(mutex_);
    tasks.swap(posted_);
  }
  for (const auto& task : tasks) (void)base::contain(task);
}

// If a shard is missing or refuses writes, only the requests for it fail.
base::Status ShardCommits::write(std::span<Committer::Request> group) {
  targets_.clear();
  has_write_over_shards_ = false;
  if (std::ranges::any_of(group, [](const auto& request) { return !request.writes.empty(); }))
    SIBYL_TRY(wait_for_log());
  if (parts_.row_cache != nullptr) parts_.row_cache->clear();
  for (Committer::Request& request : group) request.status = route(request.writes);
  for (const Committer::Request& request : group)
    if (request.status) gather(request.writes);
  apply(append());
  for (Committer::Request& request : group)
    if (request.status) request.status = status_of(request.writes);
  targets_.clear();
  count(group);
  run_posted();
  return {};
}

template <typename Function>
void ShardCommits::for_each_shard(const WriteSet::Operation& operation, Function function) const {
  if (operation.action != WriteSet::Action::erase_range)
    return function(parts_.shards.shard_of(operation.key));
  if (operation.key >= operation.value) return;
  for (const uint32_t shard : parts_.shards.shards_of(operation.key, operation.value).shards) function(shard);
}

ShardCommits::Target& ShardCommits::target(uint32_t shard) {
  const auto [found, is_new] = targets_.try_emplace(shard);
  if (!is_new) return found->second;
  Target& added = found->second;
  added.shard = parts_.open.find(shard);
  if (!added.shard)
    added.status = base::fail(parts_.not_here(shard));
  else
    added.status = added.shard->parts->writer().begin_group();
  return added;
}

// Assigns the write set to its shards. Returns an error if it cannot be written.
base::Status ShardCommits::route(const WriteSet& writes) {
  base::Status status;
  std::optional<uint32_t> only;
  bool is_over_shards = false;
  for (const WriteSet::Operation& operation : writes.operations())
    for_each_shard(operation, [&](uint32_t shard) {
      if (const Target& found = target(shard); status && !found.status) status = found.status;
      is_over_shards |= only.value_or(shard) != shard;
      only = shard;
    });
  if (status) has_write_over_shards_ |= is_over_shards;
  return status;
}

void ShardCommits::gather(const WriteSet& writes) {
  if (parts_.row_cache != nullptr) parts_.row_cache->add(writes);
  for (const WriteSet::Operation& operation : writes.operations())
    for_each_shard(operation, [&](uint32_t shard) { target(shard).shard->parts->writer().add(operation); });
}

base::Status ShardCommits::append() {
  std::vector<ServerLog::Part> groups;
  for (auto& [number, target] : targets_) {
    if (!target.status) continue;
    const BytesView group = target.shard->parts->writer().prepare_group();
    target.is_written = !group.empty();
    if (target.is_written) groups.push_back({number, target.shard->epoch, group});
  }
  if (groups.empty()) return {};
  const auto started = SteadyClock::now();
  SIBYL_TRY(parts_.log.append(groups));
  record_sync(std::chrono::duration_cast<microseconds>(SteadyClock::now() - started));
  return {};
}

void ShardCommits::apply(const base::Status& logged) {
  const bool locks = has_write_over_shards_ && logged.has_value();
  if (locks) parts_.visibility.begin();
  if (parts_.row_cache != nullptr) parts_.row_cache->begin();
  bool all_applied = logged.has_value();
  for (auto& [number, target] : targets_) {
    if (!target.is_written) continue;
    target.status = target.shard->parts->writer().finish_group(logged);
    all_applied &= target.status.has_value();
  }
  if (parts_.row_cache != nullptr) parts_.row_cache->finish(all_applied);
  if (locks) parts_.visibility.end();
  if (logged) parts_.log.release_unneeded();
}

base::Status ShardCommits::status_of(const WriteSet& writes) const {
  base::Status status;
  for (const WriteSet::Operation& operation : writes.operations())
    for_each_shard(operation, [&](uint32_t shard) {
      const Target& found = targets_.at(shard);
      if (status && !found.status) status = found.status;
    });
  return status;
}

// Waits until enough of the log is in tables, which flushes release. If flushes fail, commits fail as well.
base::Status ShardCommits::wait_for_log() {
  constexpr auto patience = std::chrono::seconds(10);
  constexpr auto pause = std::chrono::milliseconds(5);
  const auto deadline = SteadyClock::now() + patience;
  while (parts_.log.bytes() >= parts_.max_log_bytes) {
    run_posted();
    parts_.log.release_unneeded();
    if (parts_.log.bytes() < parts_.max_log_bytes) break;
    if (SteadyClock::now() > deadline)
      return base::fail(
          base::Error(base::ErrorCode::write_failure, "The log is full of writes that are not in tables")
              .with_hint("the shards cannot be flushed; is the storage full or degraded?"));
    if (parts_.request_flush) parts_.request_flush();
    std::this_thread::sleep_for(pause);
  }
  return {};
}

void ShardCommits::record_sync(microseconds taken) {
  constexpr int weight = 8;  // the weight of the previous average, relative to one new value
  sync_micros_.record(static_cast<uint64_t>(taken.count()));
  sync_time_.store(sync_time() + (taken - sync_time()) / weight, std::memory_order_relaxed);
}

// Requests without writes are posted tasks, which do not count.
void ShardCommits::count(std::span<const Committer::Request> group) {
  const auto commits = static_cast<uint64_t>(std::ranges::count_if(
      group, [](const auto& request) { return !request.writes.empty() && request.status.has_value(); }));
  if (commits == 0) return;
  groups_.fetch_add(1, std::memory_order_relaxed);
  commits_.fetch_add(commits, std::memory_order_relaxed);
  group_sizes_.record(commits);
}

void ShardCommits::fill(StoreStatistics& statistics) const {
  statistics.commit_groups = groups_.load(std::memory_order_relaxed);
  statistics.commits = commits_.load(std::memory_order_relaxed);
  statistics.commits_refused = committer_->refused();
  statistics.group_commits = group_sizes_.snapshot();
  statistics.sync_micros = sync_micros_.snapshot();
}

}  // namespace sibyl::storage::rocksdb
