#include "engine/prepared/plan_cache.h"

#include <algorithm>

#include "cql/lexer.h"

namespace sibyl::engine {

// A literal and its comma take about 200 bytes, a marker more. PreparedStatements.StayWithinTheMemoryLimit
// compares the estimates with actual allocations.
size_t estimate_bytes(const plan::Prepared& plan) {
  constexpr size_t fixed = 1024, of_word = 128, of_column = 192;
  size_t words = 0;
  cql::Lexer lexer(plan.text);
  while (lexer.next().kind != cql::TokenKind::end) ++words;
  const size_t columns = plan.markers.size() + (plan.result ? plan.result->columns.size() : 0);
  return fixed + 2 * plan.text.size() + of_word * words + of_column * columns;
}

PlanCache::PlanCache(Limits limits)
    : entries_per_shard_(std::max<size_t>(1, limits.entries / shard_count)), limit_bytes_(limits.bytes) {}

PlanCache::Found PlanCache::find(std::string_view key) const {
  const Shard& shard = shard_of(key);
  const base::ReaderLock lock(shard.mutex);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return {};
  const Entry& entry = found->second;
  uint64_t now = shard.insertions.load(std::memory_order_relaxed);
  // The time is written only when it changes, so that threads that read a hot entry share its cache line.
  if (entry.used.load(std::memory_order_relaxed) != now) entry.used.store(now, std::memory_order_relaxed);
  return {entry.plan, entry.generation};
}

void PlanCache::put(std::string_view key, plan::PreparedPtr plan, uint64_t generation, size_t weight) {
  const size_t bytes = weight + key.size();
  if (bytes > limit_bytes_) return erase(key);
  Shard& shard = shard_of(key);
  {
    const base::MutexLock lock(shard.mutex);
    Entry& entry = shard.entries.try_emplace(std::string(key)).first->second;
    count(shard, entry.bytes, bytes);
    entry.bytes = bytes;
    entry.plan = std::move(plan);
    entry.generation = generation;
    entry.used.store(shard.insertions.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    while (shard.entries.size() > entries_per_shard_ && evict_one(shard, key)) {
    }
  }
  make_room(key, bytes);
}

void PlanCache::count(Shard& shard, size_t before, size_t now) {
  shard.bytes.store(shard.bytes.load(std::memory_order_relaxed) + now - before, std::memory_order_relaxed);
  bytes_.fetch_add(now - before, std::memory_order_relaxed);
}

// Evicts from the shard where other entries hold the most bytes, so that a few large entries do not evict all
// small ones.
void PlanCache::make_room(std::string_view except, size_t new_bytes) {
  const Shard* const its_shard = &shard_of(except);
  std::array<bool, shard_count> has_no_other{};
  while (bytes() > limit_bytes_) {
    Shard* heaviest = nullptr;
    size_t most = 0;
    for (size_t i = 0; i < shard_count; ++i) {
      const size_t held = shards_[i].bytes.load(std::memory_order_relaxed);
      const size_t of_others = held - std::min(held, &shards_[i] == its_shard ? new_bytes : 0);
      if (has_no_other[i] || (heaviest != nullptr && of_others <= most)) continue;
      heaviest = &shards_[i];
      most = of_others;
    }
    if (heaviest == nullptr) return;
    const base::MutexLock lock(heaviest->mutex);
    has_no_other[static_cast<size_t>(heaviest - shards_.data())] = !evict_one(*heaviest, except);
  }
}

bool PlanCache::evict_one(Shard& shard, std::string_view except) {
  // Among entries with the same time of use, the largest is evicted first.
  const auto goes_first = [](const Entry& left, const Entry& right) {
    const uint64_t left_used = left.used.load(std::memory_order_relaxed);
    const uint64_t right_used = right.used.load(std::memory_order_relaxed);
    return left_used != right_used ? left_used < right_used : left.bytes > right.bytes;
  };
  auto oldest = shard.entries.end();
  for (auto it = shard.entries.begin(); it != shard.entries.end(); ++it) {
    if (it->first == except) continue;
    if (oldest == shard.entries.end() || goes_first(it->second, oldest->second)) oldest = it;
  }
  if (oldest == shard.entries.end()) return false;
  count(shard, oldest->second.bytes, 0);
  shard.entries.erase(oldest);
  evictions_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void PlanCache::erase(std::string_view key) {
  Shard& shard = shard_of(key);
  const base::MutexLock lock(shard.mutex);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return;
  count(shard, found->second.bytes, 0);
  shard.entries.erase(found);
}

PlanCache::Entry* PlanCache::entry_of(Shard& shard, std::string_view key, const plan::PreparedPtr& plan) {
  const auto found = shard.entries.find(key);
  return found == shard.entries.end() || found->second.plan != plan ? nullptr : &found->second;
}

void PlanCache::confirm(std::string_view key, const plan::PreparedPtr& plan, uint64_t generation) {
  Shard& shard = shard_of(key);
  const base::MutexLock lock(shard.mutex);
  if (Entry* const entry = entry_of(shard, key, plan))
    entry->generation = std::max(entry->generation, generation);
}

void PlanCache::replace(std::string_view key, const plan::PreparedPtr& plan, plan::PreparedPtr with,
                        uint64_t generation, size_t weight) {
  Shard& shard = shard_of(key);
  const base::MutexLock lock(shard.mutex);
  Entry* const entry = entry_of(shard, key, plan);
  if (entry == nullptr) return;
  count(shard, entry->bytes, weight + key.size());
  entry->bytes = weight + key.size();
  entry->plan = std::move(with);
  entry->generation = generation;
}

void PlanCache::erase(std::string_view key, const plan::PreparedPtr& plan) {
  Shard& shard = shard_of(key);
  const base::MutexLock lock(shard.mutex);
  const Entry* const entry = entry_of(shard, key, plan);
  if (entry == nullptr) return;
  count(shard, entry->bytes, 0);
  shard.entries.erase(shard.entries.find(key));
}

void PlanCache::erase_if(const std::function<bool(const plan::Prepared&)>& condition) {
  for (Shard& shard : shards_) {
    std::vector<std::pair<std::string, plan::PreparedPtr>> found;
    {
      const base::ReaderLock lock(shard.mutex);
      for (const auto& [key, entry] : shard.entries)
        if (condition(*entry.plan)) found.emplace_back(key, entry.plan);
    }
    for (const auto& [key, plan] : found) erase(key, plan);
  }
}

size_t PlanCache::size() const {
  size_t size = 0;
  for (const Shard& shard : shards_) {
    const base::ReaderLock lock(shard.mutex);
    size += shard.entries.size();
  }
  return size;
}

void PlanCache::for_each(const std::function<void(const std::string&, const plan::Prepared&)>& visit) const {
  for (const Shard& shard : shards_) {
    const base::ReaderLock lock(shard.mutex);
    for (const auto& [key, entry] : shard.entries) visit(key, *entry.plan);
  }
}

}  // namespace sibyl::engine
