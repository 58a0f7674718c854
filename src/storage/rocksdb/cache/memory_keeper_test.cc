#include "storage/rocksdb/cache/memory_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace sibyl::storage::rocksdb {
namespace {

constexpr uint64_t total = 1600;

TEST(NextSixteenths, HalvesUnderPressureAndGrowsSlowly) {
  EXPECT_EQ(next_sixteenths(16, {total, 99}), 8u);
  EXPECT_EQ(next_sixteenths(3, {total, 0}), 1u);
  EXPECT_EQ(next_sixteenths(1, {total, 0}), 1u);
  EXPECT_EQ(next_sixteenths(8, {total, 100}), 8u);
  EXPECT_EQ(next_sixteenths(8, {total, 200}), 8u);
  EXPECT_EQ(next_sixteenths(8, {total, 201}), 9u);
  EXPECT_EQ(next_sixteenths(16, {total, total}), 16u);
}

TEST(MemoryKeeper, ResizesWhenTheNumberChanges) {
  std::atomic<uint64_t> available{total};
  std::atomic<int> reads{0};
  std::vector<uint32_t> sizes;
  std::promise<void> is_smallest, is_largest;
  {
    MemoryKeeper keeper(
        [&](uint32_t sixteenths) {
          sizes.push_back(sixteenths);
          if (sixteenths == 1) is_smallest.set_value();
          if (sixteenths == all_sixteenths) is_largest.set_value();
        },
        [&]() -> std::optional<base::MachineMemory> {
          if (++reads % 3 == 0) return std::nullopt;
          return base::MachineMemory{total, available};
        },
        std::chrono::milliseconds(1));
    available = 0;
    is_smallest.get_future().wait();
    available = total;
    is_largest.get_future().wait();
  }
  const std::vector<uint32_t> expected = {8, 4, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(sizes, expected);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
