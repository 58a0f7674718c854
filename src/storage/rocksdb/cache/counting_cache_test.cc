#include "storage/rocksdb/cache/counting_cache.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sibyl::storage::rocksdb {
namespace {

void delete_nothing(const ::rocksdb::Slice&, void*) {}

TEST(CountingCache, CountsHitsAndMissesOfAllThreads) {
  CountingCache cache(::rocksdb::NewLRUCache(1 << 20));
  ::rocksdb::Cache& base = cache;
  int value = 0;
  ASSERT_TRUE(base.Insert("key", &value, 1, delete_nothing).ok());
  const auto look_up = [&] {
    for (int i = 0; i < 100; ++i) {
      ::rocksdb::Cache::Handle* const found = base.Lookup("key");
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(base.Value(found), &value);
      base.Release(found);
      EXPECT_EQ(base.Lookup("other"), nullptr);
      EXPECT_EQ(base.Lookup("third", nullptr, nullptr, ::rocksdb::Cache::Priority::LOW, true), nullptr);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(look_up);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.hits(), 400u);
  EXPECT_EQ(cache.misses(), 800u);
  base.EraseUnRefEntries();
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
