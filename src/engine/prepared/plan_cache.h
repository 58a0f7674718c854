// A bounded map from keys to plans: prepared statements by id, and plans of repeated texts.
//
// Every request does a lookup, so the map is divided into shards, each with a shared lock. The time of last
// use is counted in insertions, which is precise enough to evict the least recently used entry.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// Estimates the bytes that a plan occupies. Reads its text.
size_t estimate_bytes(const plan::Prepared& plan);
// Returns true if threads may keep the plan for any length of time.
inline bool is_small(const plan::Prepared& plan) {
  return plan.text.size() <= 2048;
}

// Thread-safe.
class PlanCache {
 public:
  struct Limits {
    size_t entries;
    size_t bytes;  // bytes of plans, as estimated by estimate_bytes(), and of keys
  };
  explicit PlanCache(Limits limits);

  struct Found {
    plan::PreparedPtr plan;  // nullptr: not found
    uint64_t generation = 0;
  };
  // `generation` is the schema generation that the plan was last checked against.
  Found find(std::string_view key) const;
  // Adds or replaces an entry, and evicts others to stay within the limits. An entry that alone exceeds a
  // limit is not kept. `weight`: bytes of the plan.
  void put(std::string_view key, plan::PreparedPtr plan, uint64_t generation, size_t weight);
  void erase(std::string_view key);
  // The three functions below change an entry only if it still holds `plan`, since another thread may have
  // replaced it.
  void confirm(std::string_view key, const plan::PreparedPtr& plan, uint64_t generation);
  void replace(std::string_view key, const plan::PreparedPtr& plan, plan::PreparedPtr with,
               uint64_t generation, size_t weight);
  void erase(std::string_view key, const plan::PreparedPtr& plan);
  // Erases all plans for which `condition` is true. `condition` is called with the shard's lock held.
  void erase_if(const std::function<bool(const plan::Prepared& plan)>& condition);

  size_t size() const;
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Number of entries evicted since the start.
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
    mutable base::SharedMutex mutex;
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries SIBYL_GUARDED_BY(mutex);
    std::atomic<size_t> bytes{0};  // changes only while the lock is held
    std::atomic<uint64_t> insertions{1};
  };
  // Returns nullptr if there is no entry or it holds another plan.
  static Entry* entry_of(Shard& shard, std::string_view key, const plan::PreparedPtr& plan)
      SIBYL_REQUIRES(shard.mutex);
  // Returns false if there is no other entry.
  bool evict_one(Shard& shard, std::string_view except) SIBYL_REQUIRES(shard.mutex);
  void count(Shard& shard, size_t before, size_t now);
  void make_room(std::string_view except, size_t new_bytes);
  Shard& shard_of(std::string_view key) { return shards_[Hash{}(key) % shard_count]; }
  const Shard& shard_of(std::string_view key) const { return shards_[Hash{}(key) % shard_count]; }

  const size_t entries_per_shard_, limit_bytes_;
  std::atomic<size_t> bytes_{0};
  std::atomic<uint64_t> evictions_{0};
  std::array<Shard, shard_count> shards_;
};

}  // namespace sibyl::engine
