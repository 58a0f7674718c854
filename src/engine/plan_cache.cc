#include "engine/plan_cache.h"

#include <algorithm>
#include <mutex>

namespace sibyl::engine {
namespace {

// A plan weighs several times its text; the constant stands for its fixed parts.
size_t weight(const plan::Prepared& plan) {
  return plan.text.size() * 4 + 1024;
}

}  // namespace

PlanCache::PlanCache(Limits limits)
    : per_shard_{std::max<size_t>(1, limits.entries / shard_count),
                 std::max<size_t>(1, limits.bytes / shard_count)} {}

PlanCache::Found PlanCache::find(std::string_view key) const {
  const Shard& shard = shard_of(key);
  std::shared_lock lock(shard.mutex);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return {};
  const Entry& entry = found->second;
  uint64_t now = shard.insertions.load(std::memory_order_relaxed);
  // Only written when it changes, so that readers of a hot entry share its cache line.
  if (entry.used.load(std::memory_order_relaxed) != now) entry.used.store(now, std::memory_order_relaxed);
  return {entry.plan, entry.generation};
}

void PlanCache::put(std::string_view key, plan::PreparedPtr plan, uint64_t generation) {
  Shard& shard = shard_of(key);
  std::unique_lock lock(shard.mutex);
  Entry& entry = shard.entries.try_emplace(std::string(key)).first->second;
  shard.bytes -= entry.bytes;
  entry.bytes = weight(*plan);
  shard.bytes += entry.bytes;
  entry.plan = std::move(plan);
  entry.generation = generation;
  entry.used.store(shard.insertions.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  while (shard.entries.size() > 1 &&
         (shard.entries.size() > per_shard_.entries || shard.bytes > per_shard_.bytes))
    evict_one(shard, &entry);
}

void PlanCache::evict_one(Shard& shard, const Entry* but_not) {
  auto oldest = shard.entries.end();
  for (auto it = shard.entries.begin(); it != shard.entries.end(); ++it) {
    if (&it->second == but_not) continue;
    if (oldest == shard.entries.end() ||
        it->second.used.load(std::memory_order_relaxed) < oldest->second.used.load(std::memory_order_relaxed))
      oldest = it;
  }
  shard.bytes -= oldest->second.bytes;
  shard.entries.erase(oldest);
  evictions_.fetch_add(1, std::memory_order_relaxed);
}

void PlanCache::erase(std::string_view key) {
  Shard& shard = shard_of(key);
  std::unique_lock lock(shard.mutex);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return;
  shard.bytes -= found->second.bytes;
  shard.entries.erase(found);
}

size_t PlanCache::size() const {
  size_t size = 0;
  for (const Shard& shard : shards_) {
    std::shared_lock lock(shard.mutex);
    size += shard.entries.size();
  }
  return size;
}

size_t PlanCache::bytes() const {
  size_t bytes = 0;
  for (const Shard& shard : shards_) {
    std::shared_lock lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

void PlanCache::for_each(const std::function<void(const std::string&, const plan::Prepared&)>& visit) const {
  for (const Shard& shard : shards_) {
    std::shared_lock lock(shard.mutex);
    for (const auto& [key, entry] : shard.entries) visit(key, *entry.plan);
  }
}

}  // namespace sibyl::engine
