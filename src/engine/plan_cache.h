// Plans by key, bounded: prepared statements by id, and plans of repeated texts.
//
// Lookups are on the way of every request: the map is cut into shards, each with a lock that readers share.
// Which entry was used last is known to the granularity of insertions, which is enough to evict the least
// recently used.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/prepared.h"

namespace sibyl::engine {

// How many bytes a plan takes, about. Reads its text.
size_t weigh(const plan::Prepared& plan);
// Whether threads may remember it, for as long as they like.
inline bool is_small(const plan::Prepared& plan) {
  return plan.text.size() <= 2048;
}

// Thread-safe.
class PlanCache {
 public:
  struct Limits {
    size_t entries;
    size_t bytes;  // of plans, as they are weighed, and keys
  };
  explicit PlanCache(Limits limits);

  struct Found {
    plan::PreparedPtr plan;  // nullptr: not here
    uint64_t generation = 0;
  };
  // `generation` is the schema's that the plan was last checked against.
  Found find(std::string_view key) const;
  // Adds or replaces; evicts others when a limit is crossed. One that is beyond the limit alone is not kept.
  // `weight`: of the plan.
  void put(std::string_view key, plan::PreparedPtr plan, uint64_t generation, size_t weight);
  void erase(std::string_view key);
  // These three change an entry only while it holds `plan`: another thread may have replaced it meanwhile.
  void confirm(std::string_view key, const plan::PreparedPtr& plan, uint64_t generation);
  void replace(std::string_view key, const plan::PreparedPtr& plan, plan::PreparedPtr with,
               uint64_t generation, size_t weight);
  void erase(std::string_view key, const plan::PreparedPtr& plan);
  // Erases all plans for which it is true. Calls it under the locks of readers.
  void erase_if(const std::function<bool(const plan::Prepared& plan)>& condition);

  size_t size() const;
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // How many were thrown out to make room, since the start.
  uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }
  void for_each(const std::function<void(const std::string& key, const plan::Prepared& plan)>& visit) const;

 private:
  static constexpr size_t shard_count = 16;

  struct Entry {
    plan::PreparedPtr plan;
    uint64_t generation = 0;
    size_t bytes = 0;
    mutable std::atomic<uint64_t> used{0};
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  struct Shard {
    mutable std::shared_mutex mutex;
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries;
    std::atomic<size_t> bytes{0};  // changes under the lock
    std::atomic<uint64_t> insertions{1};
  };
  // Under the shard's lock. nullptr: the entry holds another plan, or there is none.
  static Entry* entry_of(Shard& shard, std::string_view key, const plan::PreparedPtr& plan);
  // Under the shard's lock. False: there is no other.
  bool evict_one(Shard& shard, std::string_view but_not);
  void count(Shard& shard, size_t before, size_t now);
  void make_room(std::string_view but_not, size_t its_bytes);
  Shard& shard_of(std::string_view key) { return shards_[Hash{}(key) % shard_count]; }
  const Shard& shard_of(std::string_view key) const { return shards_[Hash{}(key) % shard_count]; }

  const size_t entries_per_shard_, limit_bytes_;
  std::atomic<size_t> bytes_{0};
  std::atomic<uint64_t> evictions_{0};
  std::array<Shard, shard_count> shards_;
};

}  // namespace sibyl::engine
