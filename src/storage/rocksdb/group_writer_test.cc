#include "storage/rocksdb/group_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sibyl::storage::rocksdb {
namespace {

TEST(HotKeys, ManyThatAreWrittenNowAndThenAreNotHot) {
  const auto keys = std::make_unique<HotKeys>();
  size_t hot = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 1'000'000; ++i) hot += keys->count(std::to_string(i)) ? 1 : 0;
  EXPECT_LT(hot, 20u);
}

TEST(HotKeys, OneThatIsWrittenAllTheTimeIsFoundAmongThem) {
  const auto keys = std::make_unique<HotKeys>();
  size_t hot = 0;
  for (int i = 0; i < 64'000; ++i) {
    hot += keys->count("hot") ? 1 : 0;
    keys->count(std::to_string(i));
  }
  EXPECT_GE(hot, 900u);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
