#include "execute/locks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>
#include <thread>

namespace sibyl::execute {
namespace {

using base::Bytes;

TEST(PartitionLocks, OneHolderAtATime) {
  PartitionLocks locks(4);
  constexpr int threads = 4, rounds = 2000;
  std::atomic<int> inside{0};
  int64_t counter = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      const std::vector<Bytes> partition = {"the one"};
      for (int round = 0; round < rounds; ++round) {
        PartitionLocks::Held held = locks.acquire(partition);
        EXPECT_EQ(inside.fetch_add(1), 0);
        ++counter;
        inside.fetch_sub(1);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(counter, threads * rounds);
}

TEST(PartitionLocks, SeveralPartitionsInAnyOrderNeverDeadlock) {
  PartitionLocks locks(8);
  std::vector<std::thread> workers;
  for (unsigned seed = 0; seed < 4; ++seed) {
    workers.emplace_back([&locks, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 1000; ++round) {
        std::vector<Bytes> partitions;
        for (int i = 0; i < 5; ++i) partitions.push_back(std::to_string(random() % 20));
        PartitionLocks::Held held = locks.acquire(partitions);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

TEST(PartitionLocks, AnotherThreadMayRelease) {
  PartitionLocks locks(1);
  const std::vector<Bytes> partition = {"a"};
  PartitionLocks::Held held = locks.acquire(partition);
  std::promise<void> acquired;
  std::future<void> waiting = acquired.get_future();
  std::thread waiter([&] {
    PartitionLocks::Held second = locks.acquire(partition);
    acquired.set_value();
  });
  std::thread releaser([taken = std::move(held)]() mutable { taken.release(); });
  waiting.get();
  waiter.join();
  releaser.join();
}

TEST(PartitionLocks, MovingKeepsTheLock) {
  PartitionLocks locks(2);
  const std::vector<Bytes> first = {"a"}, none;
  PartitionLocks::Held held = locks.acquire(first);
  PartitionLocks::Held moved = std::move(held);
  held.release();
  PartitionLocks::Held other = locks.acquire(none);
  other = std::move(moved);
  moved.release();
  std::atomic<bool> released{false};
  std::promise<void> asked;
  std::thread waiter([&] {
    asked.set_value();
    const PartitionLocks::Held second = locks.acquire(first);
    EXPECT_TRUE(released);
  });
  asked.get_future().get();
  // Time for a waiter that need not wait to be found out.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  released = true;
  other.release();
  waiter.join();
}

TEST(PartitionLocks, AllOfThemAreTakenFromEverybody) {
  PartitionLocks locks(8);
  std::vector<PartitionLocks::Held> held;
  held.push_back(locks.acquire_all());
  std::atomic<int> inside{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&, i] {
      const std::vector<Bytes> partition = {std::to_string(i)};
      const PartitionLocks::Held one = locks.acquire(partition);
      ++inside;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(inside, 0);
  held.clear();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(inside, 8);
}

}  // namespace
}  // namespace sibyl::execute
