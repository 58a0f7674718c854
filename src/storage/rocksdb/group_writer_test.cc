#include "storage/rocksdb/group_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sibyl::storage::rocksdb {
namespace {

TEST(HotKeys, OccasionallyWrittenKeysAreNotHot) {
  const auto keys = std::make_unique<HotKeys>();
  size_t hot = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 1'000'000; ++i) hot += keys->count(std::to_string(i)) ? 1 : 0;
  EXPECT_LT(hot, 20u);
}

TEST(HotKeys, AFrequentlyWrittenKeyIsFound) {
  const auto keys = std::make_unique<HotKeys>();
  size_t hot = 0;
  for (int i = 0; i < 64'000; ++i) {
    hot += keys->count("hot") ? 1 : 0;
    keys->count(std::to_string(i));
  }
  EXPECT_GE(hot, 900u);
}

// Each update adds an element of 20 bytes to one record. Without the bound the merges would rewrite half a
// megabyte 65,536 / 64 times.
TEST(HotKeys, RewritesOfALargeRecordAreProportionalToAdditions) {
  const auto keys = std::make_unique<HotKeys>();
  constexpr size_t updates = 65'536, element = 20;
  size_t rewritten = 0, merges = 0;
  for (size_t i = 1; i <= updates; ++i) {
    if (!keys->count("hot")) continue;
    keys->record_merge("hot", i * element);
    rewritten += i * element;
    ++merges;
  }
  EXPECT_GE(merges, 8u);
  EXPECT_LT(rewritten, updates * 100);
}

TEST(HotKeys, SmallRecordsAreMergedEachTime) {
  const auto keys = std::make_unique<HotKeys>();
  size_t merges = 0;
  for (int i = 0; i < 6'400; ++i) {
    if (!keys->count("hot")) continue;
    keys->record_merge("hot", 1'000);
    ++merges;
  }
  EXPECT_EQ(merges, 100u);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
