#include "storage/rocksdb/cache/counting_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
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

using Priority = ::rocksdb::Cache::Priority;
using Handle = ::rocksdb::Cache::Handle;

constexpr const char* block_key = "a block's key 16";

void count_deletion(const ::rocksdb::Slice& key, void* value) {
  EXPECT_EQ(key, block_key);
  ++*static_cast<int*>(value);
}

class AdmittingCache : public ::testing::Test {
 protected:
  CountingCache counting_{::rocksdb::NewLRUCache(1 << 20), nullptr,
                          std::make_unique<BlockAdmission>(1 << 20)};
  ::rocksdb::Cache& cache_ = counting_;
  int deletions_ = 0;
};

TEST_F(AdmittingCache, ABlockEntersWithItsSecondRead) {
  Handle* handle = nullptr;
  ASSERT_TRUE(cache_.Insert(block_key, &deletions_, 100, count_deletion, &handle, Priority::LOW).ok());
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(cache_.Value(handle), &deletions_);
  EXPECT_EQ(cache_.GetCharge(handle), 100u);
  EXPECT_EQ(cache_.GetDeleter(handle), &count_deletion);
  EXPECT_TRUE(cache_.IsReady(handle));
  EXPECT_EQ(cache_.Lookup(block_key), nullptr);
  EXPECT_EQ(cache_.GetUsage(), 0u);
  EXPECT_TRUE(cache_.Release(handle));
  EXPECT_EQ(deletions_, 1);

  ASSERT_TRUE(cache_.Insert(block_key, &deletions_, 100, count_deletion, &handle, Priority::LOW).ok());
  cache_.Release(handle);
  EXPECT_EQ(deletions_, 1);
  handle = cache_.Lookup(block_key);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(cache_.Value(handle), &deletions_);
  cache_.Release(handle);
  EXPECT_GE(cache_.GetUsage(), 100u);
  cache_.Erase(block_key);
  EXPECT_EQ(deletions_, 2);
}

TEST_F(AdmittingCache, ARefusedBlockLivesUntilItsLastReference) {
  Handle* handle = nullptr;
  ASSERT_TRUE(cache_.Insert(block_key, &deletions_, 1, count_deletion, &handle, Priority::LOW).ok());
  ASSERT_TRUE(cache_.Ref(handle));
  std::vector<Handle*> handles = {handle};
  cache_.WaitAll(handles);
  EXPECT_FALSE(cache_.Release(handle));
  EXPECT_EQ(deletions_, 0);
  EXPECT_TRUE(cache_.Release(handle, true));
  EXPECT_EQ(deletions_, 1);
}

TEST_F(AdmittingCache, ARefusedBlockThatNobodyHoldsIsDeleted) {
  ASSERT_TRUE(cache_.Insert(block_key, &deletions_, 1, count_deletion, nullptr, Priority::LOW).ok());
  EXPECT_EQ(deletions_, 1);
}

TEST_F(AdmittingCache, FiltersAndReservationsEnterAtOnce) {
  ASSERT_TRUE(cache_.Insert(block_key, &deletions_, 100, count_deletion, nullptr, Priority::HIGH).ok());
  Handle* const found = cache_.Lookup(block_key);
  ASSERT_NE(found, nullptr);
  cache_.Release(found);
  cache_.Erase(block_key);
  EXPECT_EQ(deletions_, 1);
  Handle* reserved = nullptr;
  ASSERT_TRUE(cache_.Insert(block_key, nullptr, 100, delete_nothing, &reserved, Priority::LOW).ok());
  EXPECT_GE(cache_.GetPinnedUsage(), 100u);
  cache_.Release(reserved);
  cache_.Erase(block_key);
}

TEST(BlockAdmission, ForgetsBlocksThatWereReadLongAgo) {
  BlockAdmission admission(1);
  const auto key_of = [](int number) { return "block " + std::to_string(1'000'000 + number); };
  EXPECT_FALSE(admission.admit(key_of(0)));
  EXPECT_TRUE(admission.admit(key_of(0)));
  int admitted = 0;
  for (int i = 1; i <= 100'000; ++i) admitted += admission.admit(key_of(i)) ? 1 : 0;
  EXPECT_LT(admitted, 10);  // equal fingerprints
  EXPECT_FALSE(admission.admit(key_of(0)));
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
