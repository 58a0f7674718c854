#include "execute/write/locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
  // Within this time, a waiter that wrongly does not wait would finish.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  released = true;
  other.release();
  waiter.join();
}

TEST(PartitionLocks, AcquireAllExcludesEveryOtherHolder) {
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

PartitionLocks::Stripes stripes(const PartitionLocks& locks, const std::vector<Bytes>& partitions) {
  return locks.stripes_of(partitions);
}

TEST(PartitionLocks, ThousandsOfWaitersAreServedInOrder) {
  PartitionLocks locks(4);
  const PartitionLocks::Stripes wanted = stripes(locks, {"the one"});
  PartitionLocks::Held held = locks.acquire(wanted);
  constexpr int waiters = 5'000;
  std::vector<int> order;  // the order of the holders, which write it one at a time
  std::promise<void> last;
  for (int i = 0; i < waiters; ++i) {
    locks.acquire_later(wanted, PartitionLocks::never,
                        [&, i](std::optional<PartitionLocks::Held> taken, uint32_t contentions) {
                          EXPECT_TRUE(taken.has_value());
                          EXPECT_EQ(contentions, static_cast<uint32_t>(i));
                          order.push_back(i);
                          const bool is_last = i == waiters - 1;
                          taken.reset();
                          if (is_last) last.set_value();
                        });
  }
  PartitionLocks::Held newcomer;
  held.release();
  last.get_future().get();
  ASSERT_EQ(order.size(), static_cast<size_t>(waiters));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_TRUE(locks.try_acquire(wanted, newcomer)) << "no request is waiting";
}

// AddressSanitizer finds a thread that keeps a reference to the deadline.
TEST(PartitionLocks, WaitersMayLeaveBeforeTheirDeadline) {
  using Taken = std::optional<PartitionLocks::Held>;
  const auto now = std::chrono::steady_clock::now();
  PartitionLocks locks(1);
  PartitionLocks::Held held = locks.acquire_all();
  const auto expire_one = [&] {
    std::promise<void> expired;
    locks.acquire_later(locks.all(), now, [&](Taken taken, uint32_t) {
      EXPECT_FALSE(taken.has_value());
      expired.set_value();
    });
    expired.get_future().get();
  };
  std::promise<PartitionLocks::Held> granted;
  locks.acquire_later(locks.all(), now + std::chrono::hours(1),
                      [&](Taken taken, uint32_t) { granted.set_value(std::move(*taken)); });
  expire_one();  // After this, the thread that watches deadlines waits for the deadline in an hour.
  held.release();
  held = granted.get_future().get();
  expire_one();
}

TEST(PartitionLocks, WaitersAreNotOvertaken) {
  PartitionLocks locks(1);
  PartitionLocks::Held held = locks.acquire_all();
  std::promise<PartitionLocks::Held> granted;
  locks.acquire_later(
      locks.all(), PartitionLocks::never,
      [&](std::optional<PartitionLocks::Held> taken, uint32_t) { granted.set_value(std::move(*taken)); });
  PartitionLocks::Held newcomer;
  EXPECT_FALSE(locks.try_acquire(locks.all(), newcomer));
  held.release();
  EXPECT_FALSE(locks.try_acquire(locks.all(), newcomer)) << "it must go to the waiter";
  PartitionLocks::Held second = granted.get_future().get();
  EXPECT_FALSE(locks.try_acquire(locks.all(), newcomer));
  second.release();
  EXPECT_TRUE(locks.try_acquire(locks.all(), newcomer));
}

TEST(PartitionLocks, ATimedOutWaiterReleasesItsLocks) {
  PartitionLocks locks(4);
  PartitionLocks::Held held = locks.acquire(PartitionLocks::Stripes{2});
  std::promise<bool> expired;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  locks.acquire_later({0, 1, 2, 3}, deadline, [&](std::optional<PartitionLocks::Held> taken, uint32_t) {
    expired.set_value(!taken);
  });
  std::promise<void> behind;
  locks.acquire_later({1}, PartitionLocks::never, [&](std::optional<PartitionLocks::Held> taken, uint32_t) {
    EXPECT_TRUE(taken.has_value());
    behind.set_value();
  });
  EXPECT_TRUE(expired.get_future().get());
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  behind.get_future().get();
  PartitionLocks::Held others;
  EXPECT_TRUE(locks.try_acquire({0}, others));
  EXPECT_TRUE(locks.try_acquire({3}, others));
  held.release();
  EXPECT_TRUE(locks.try_acquire({2}, others));
}

TEST(PartitionLocks, StoppingNotifiesWaiters) {
  PartitionLocks locks(1);
  PartitionLocks::Held held = locks.acquire_all();
  int expired = 0;
  for (int i = 0; i < 3; ++i)
    locks.acquire_later(
        locks.all(), PartitionLocks::never,
        [&](std::optional<PartitionLocks::Held> taken, uint32_t) { expired += taken ? 0 : 1; });
  locks.stop();
  EXPECT_EQ(expired, 3);
}

// Many threads use few stripes, and some time out. Each lock has one holder, and in the end all are free.
TEST(PartitionLocks, TimeoutsKeepTheLocksConsistent) {
  PartitionLocks locks(4);
  std::array<std::atomic<int>, 4> inside{};
  std::atomic<int> pending{0};
  std::vector<std::thread> workers;
  for (unsigned seed = 0; seed < 4; ++seed) {
    workers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 2'000; ++round) {
        PartitionLocks::Stripes wanted;
        for (uint32_t stripe = 0; stripe < 4; ++stripe)
          if (random() % 2 == 0) wanted.push_back(stripe);
        const auto use = [&inside](const PartitionLocks::Stripes& taken) {
          for (const uint32_t stripe : taken) EXPECT_EQ(inside[stripe].fetch_add(1), 0);
          for (const uint32_t stripe : taken) inside[stripe].fetch_sub(1);
        };
        PartitionLocks::Held held;
        if (locks.try_acquire(wanted, held)) {
          use(wanted);
          continue;
        }
        ++pending;
        locks.acquire_later(wanted,
                            std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 50),
                            [&, wanted, use](std::optional<PartitionLocks::Held> taken, uint32_t) {
                              if (taken) use(wanted);
                              taken.reset();
                              --pending;
                            });
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  while (pending > 0) std::this_thread::yield();
  PartitionLocks::Held all;
  EXPECT_TRUE(locks.try_acquire(locks.all(), all));
}

// If a write throws after it waited, only that write fails: its locks are released, and other writes
// continue.
TEST(PartitionLocks, AThrowingWaiterDoesNotAffectOthers) {
  PartitionLocks locks(16);
  const std::vector<base::Bytes> partition = {"p"};
  PartitionLocks::Held first = locks.acquire(partition);
  auto kept = std::make_shared<int>();
  for (const auto deadline : {PartitionLocks::never, std::chrono::steady_clock::now()})
    locks.acquire_later(locks.stripes_of(partition), deadline,
                        [kept](std::optional<PartitionLocks::Held>, uint32_t) { throw std::bad_alloc(); });
  first.release();
  PartitionLocks::Held second = locks.acquire(partition);
  second.release();
  locks.stop();
  EXPECT_EQ(kept.use_count(), 1) << "an uncompleted completion must be destroyed";
}

}  // namespace
}  // namespace sibyl::execute
