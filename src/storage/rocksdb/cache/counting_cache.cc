#include "storage/rocksdb/cache/counting_cache.h"

#include "storage/rocksdb/cache/large_blocks.h"

namespace sibyl::storage::rocksdb {
namespace {

size_t counters_of_thread() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

CountingCache::Handle* CountingCache::counted(Handle* found) {
  Counters& counters = counters_[counters_of_thread() % counters_.size()];
  (found != nullptr ? counters.hits : counters.misses).fetch_add(1, std::memory_order_relaxed);
  return found;
}

uint64_t CountingCache::sum(std::atomic<uint64_t> Counters::* counter) const {
  uint64_t sum = 0;
  for (const Counters& counters : counters_) sum += (counters.*counter).load(std::memory_order_relaxed);
  return sum;
}

std::shared_ptr<CountingCache> make_block_cache(uint64_t capacity_bytes, int shard_bits) {
  constexpr double high_priority_share = 0.5;
  return std::make_shared<CountingCache>(
      ::rocksdb::NewLRUCache(capacity_bytes, shard_bits, false, high_priority_share),
      std::make_shared<LargeBlocks>(capacity_bytes >> shard_bits));
}

std::shared_ptr<LargeBlocks> large_blocks_of(const std::shared_ptr<::rocksdb::Cache>& cache) {
  auto* const blocks = dynamic_cast<LargeBlocks*>(cache->memory_allocator());
  return blocks == nullptr ? nullptr : std::shared_ptr<LargeBlocks>(cache, blocks);
}

}  // namespace sibyl::storage::rocksdb
