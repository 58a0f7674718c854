#include "storage/rocksdb/cache/counting_cache.h"

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

}  // namespace sibyl::storage::rocksdb
