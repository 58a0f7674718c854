#include "storage/rocksdb/cache/large_blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <optional>
#include <thread>
#include <tuple>

#include "base/memory.h"
#include "base/reservation.h"
#include "base/statement.h"
#include "storage/rocksdb/cache/large_records.h"

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

TEST(LargeBlocks, AReadIsRefusedIfAnotherStatementHasABlock) {
  LargeBlocks blocks(large);
  EXPECT_TRUE(blocks.begin_read(large)) << "outside of statements";
  const base::StatementScope scope(nullptr);
  EXPECT_TRUE(blocks.begin_read(large));
  void* const ours = blocks.Allocate(large);
  EXPECT_TRUE(blocks.begin_read(large));
  const auto read_elsewhere = [&](size_t bytes) {
    return std::async(std::launch::async, [&blocks, bytes] {
      const base::StatementScope inner(nullptr);
      return blocks.begin_read(bytes);
    });
  };
  const base::Status refused = read_elsewhere(large).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::overloaded);
  EXPECT_TRUE(read_elsewhere(large - 1).get());
  auto waiting = read_elsewhere(large);
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  blocks.Deallocate(ours);
  EXPECT_TRUE(waiting.get());
}

// RocksDB allocates a block that is not compressed before it reads it.
TEST(LargeBlocks, ABlockGetsItsTurnWhenItIsRead) {
  LargeBlocks blocks(large);
  const base::StatementScope scope(nullptr);
  void* const ours = blocks.Allocate(large);
  auto other = std::async(std::launch::async, [&] {
    const base::StatementScope inner(nullptr);
    void* const block = blocks.Allocate(large);  // after a second, without a turn
    const base::Status first = blocks.begin_read(large);
    blocks.Deallocate(ours);
    const base::Status second = blocks.begin_read(large);
    const auto third = load_elsewhere(blocks, large);
    const bool waits = third.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
    blocks.Deallocate(block);
    return std::tuple(first.has_value(), second.has_value(), waits);
  });
  EXPECT_EQ(other.get(), std::tuple(false, true, true));
}

TEST(LargeBlocks, AReadWaitsForMemory) {
  LargeBlocks blocks(large);
  base::set_memory_limits({.total_bytes = base::memory_in_use() + (8 << 20)});
  std::optional<base::MemoryReservation> of_compaction(8 << 20);
  const base::StatementScope scope(nullptr);
  const auto begun = steady_clock::now();
  EXPECT_FALSE(blocks.begin_read(large));
  EXPECT_GE(steady_clock::now() - begun, std::chrono::milliseconds(900));
  of_compaction.reset();
  EXPECT_TRUE(blocks.begin_read(large));
  base::set_memory_limits({});
}

TEST(LargeBlocks, ReadsWaitForACompactionOfALargeRecord) {
  LargeBlocks blocks(large);
  std::promise<void> is_written;
  std::promise<void> is_loaded;
  auto compaction = std::async(std::launch::async, [&] {
    mark_background_thread();
    void* const block = blocks.Allocate(large);
    is_loaded.set_value();
    is_written.get_future().wait();
    blocks.Deallocate(block);
    blocks.end_record();
  });
  is_loaded.get_future().wait();
  const base::StatementScope scope(nullptr);
  EXPECT_FALSE(blocks.begin_read(large));
  is_written.set_value();
  compaction.get();
  EXPECT_TRUE(blocks.begin_read(large));
}

// A flush or compaction waits until statements have freed memory. Meanwhile, no other statement gets this
// memory.
TEST(LargeRecords, ReserveMemoryOnlyInTheBackground) {
  constexpr auto allowed = 8 << 20;
  base::set_memory_limits({.total_bytes = base::memory_in_use() + allowed});
  const int64_t before = base::memory_in_use();
  (void)reserve_in_background(2 * allowed);
  EXPECT_EQ(base::memory_in_use(), before);
  std::optional<base::MemoryReservation> of_statement(allowed);
  auto background = std::async(std::launch::async, [] {
    mark_background_thread();
    (void)reserve_in_background(100);  // small records do not wait
    const auto begun = steady_clock::now();
    (void)reserve_in_background(4 << 20);
    return steady_clock::now() - begun;
  });
  EXPECT_EQ(background.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(base::memory_in_use(), before + allowed + (4 << 20));
  of_statement.reset();
  EXPECT_LT(background.get(), std::chrono::milliseconds(2900));
  EXPECT_EQ(base::memory_in_use(), before);
  base::set_memory_limits({});
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
