#include "storage/rocksdb/cache/large_blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "base/statement.h"

namespace sibyl::storage::rocksdb {
namespace {

using std::chrono::steady_clock;
constexpr size_t large = 1 << 20;

// Allocates and frees a block in a statement of another thread. Returns how long the allocation took.
std::future<steady_clock::duration> load_elsewhere(LargeBlocks& blocks, size_t size,
                                                   const base::Interrupt* interrupt = nullptr) {
  return std::async(std::launch::async, [&blocks, size, interrupt] {
    const base::StatementScope scope(interrupt);
    const auto begun = steady_clock::now();
    void* const block = blocks.Allocate(size);
    const auto taken = steady_clock::now() - begun;
    std::memset(block, 1, size);
    blocks.Deallocate(block);
    return taken;
  });
}

TEST(LargeBlocks, AStatementWaitsForTheBlockOfAnother) {
  LargeBlocks blocks(large);
  const base::StatementScope scope(nullptr);
  void* const ours = blocks.Allocate(large);
  std::atomic<bool> is_freed = false;
  auto other = std::async(std::launch::async, [&] {
    const base::StatementScope inner(nullptr);
    void* const block = blocks.Allocate(large);
    const bool freed_before = is_freed;
    blocks.Deallocate(block);
    return freed_before;
  });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  is_freed = true;
  blocks.Deallocate(ours);
  EXPECT_TRUE(other.get());
}

TEST(LargeBlocks, AStatementWaitsForASecondAtMost) {
  LargeBlocks blocks(large);
  const base::StatementScope scope(nullptr);
  void* const ours = blocks.Allocate(large);
  EXPECT_GE(load_elsewhere(blocks, large).get(), std::chrono::milliseconds(900));
  blocks.Deallocate(ours);
}

class NeverBlocked final : public base::Interrupt {
 public:
  base::Status check() const override {
    if (base::statement::upcoming_nanos() == 0) return {};
    return base::fail(base::Error(base::ErrorCode::server, "elsewhere"));
  }
};

// None of the following calls waits. If they did, the test would take its whole second.
TEST(LargeBlocks, OthersDoNotWait) {
  LargeBlocks blocks(large);
  constexpr auto soon = std::chrono::milliseconds(900);
  void* const of_compaction = blocks.Allocate(large);
  EXPECT_LT(load_elsewhere(blocks, large).get(), soon) << "blocks of compactions do not delay statements";
  {
    const base::StatementScope scope(nullptr);
    void* const first = blocks.Allocate(large);
    const auto begun = steady_clock::now();
    void* const second = blocks.Allocate(large);
    EXPECT_LT(steady_clock::now() - begun, soon) << "it would wait for itself";
    EXPECT_LT(load_elsewhere(blocks, large - 1).get(), soon);
    const NeverBlocked reactor;
    EXPECT_LT(load_elsewhere(blocks, large, &reactor).get(), soon);
    blocks.Deallocate(first);
    blocks.Deallocate(second);
  }
  blocks.Deallocate(of_compaction);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
