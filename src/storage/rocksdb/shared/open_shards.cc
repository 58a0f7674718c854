#include "storage/rocksdb/shared/open_shards.h"

#include <algorithm>

namespace sibyl::storage::rocksdb {

OpenShards::Use::~Use() {
  if (shard_) table_->finish_use(*shard_);
}

// Here `uses` is changed before `is_awaited` is read. A waiter does the opposite: it sets `is_awaited` and
// then reads `uses`. So one of the two notices the other.
void OpenShards::finish_use(OpenShard& shard) {
  if (shard.uses.fetch_sub(1) > 1 || (!shard.is_awaited.load() && !shard.is_closing.load())) return;
  const base::MutexLock lock(waiting_);
  // The last user closes the shard. close() itself does not, because the next use of this thread would begin
  // before close() runs again.
  if (shard.is_closing.load()) close_if_unused(shard);
  unused_.notify_all();
}

OpenShards::Use OpenShards::find(uint32_t shard, bool is_request) {
  const base::ReaderLock lock(mutex_);
  if (shard >= shards_.size()) return {};
  const std::shared_ptr<OpenShard>& found = shards_[shard];
  if (!found || found->is_closed.load() || (is_request && found->is_closing.load())) return {};
  found->uses.fetch_add(1);
  return Use(this, found);
}

std::shared_ptr<OpenShard> OpenShards::at(uint32_t shard) const {
  const base::ReaderLock lock(mutex_);
  return shard < shards_.size() ? shards_[shard] : nullptr;
}

std::vector<OpenShards::Use> OpenShards::all() {
  std::vector<Use> open;
  uint32_t count = 0;
  {
    const base::ReaderLock lock(mutex_);
    count = static_cast<uint32_t>(shards_.size());
  }
  for (uint32_t shard = 0; shard < count; ++shard)
    if (Use use = find(shard)) open.push_back(std::move(use));
  return open;
}

void OpenShards::add(std::shared_ptr<OpenShard> shard) {
  const base::MutexLock lock(mutex_);
  shards_[shard->number] = std::move(shard);
}

std::shared_ptr<OpenShard> OpenShards::retire(uint32_t shard) {
  const base::MutexLock lock(mutex_);
  if (shard >= shards_.size() || !shards_[shard]) return nullptr;
  retired_.push_back(std::move(shards_[shard]));
  shards_[shard] = nullptr;
  return retired_.back();
}

bool OpenShards::is_used(uint32_t shard) const {
  const base::ReaderLock lock(mutex_);
  const auto uses = [shard](const std::shared_ptr<OpenShard>& each) {
    if (!each || each->number != shard) return false;
    each->is_awaited.store(true);
    return each->uses.load() > 0;
  };
  return uses(shards_[shard]) || std::ranges::any_of(retired_, uses);
}

void OpenShards::wait_unused(uint32_t shard) {
  const base::MutexLock lock(waiting_);
  while (is_used(shard)) unused_.wait(waiting_);
}

// find() counts a use under the lock for readers, so none begins in between.
bool OpenShards::close_if_unused(OpenShard& shard) {
  shard.is_awaited = true;
  const base::MutexLock lock(mutex_);
  if (shard.uses.load() == 0) shard.is_closed = true;
  return shard.is_closed;
}

void OpenShards::close(OpenShard& shard, std::chrono::milliseconds patience) {
  shard.is_closing = true;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  {
    const base::MutexLock lock(waiting_);
    while (!close_if_unused(shard) && unused_.wait_until(waiting_, deadline)) {
    }
  }
  shard.is_closed = true;
  wait_unused(shard.number);
}

std::vector<std::shared_ptr<OpenShard>> OpenShards::take_unused() {
  const base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<OpenShard>> unused;
  std::erase_if(retired_, [&unused](const std::shared_ptr<OpenShard>& shard) {
    if (shard->uses.load() > 0) return false;
    unused.push_back(shard);
    return true;
  });
  return unused;
}

}  // namespace sibyl::storage::rocksdb
