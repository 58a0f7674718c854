#include "storage/rocksdb/pacing/compaction_pacer.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace sibyl::storage::rocksdb {
namespace {

using namespace std::chrono_literals;
using OpType = ::rocksdb::RateLimiter::OpType;

TEST(CompactionPacer, PausesOnlyIfTheThreadHadToWait) {
  EXPECT_EQ(pause_after({8ms, 0ms}), 0ms);
  EXPECT_EQ(pause_after({16ms, 999us}), 0ms);
  EXPECT_EQ(pause_after({8ms, 4ms}), 64ms);
  EXPECT_EQ(pause_after({50ms, 50ms}), 100ms);
  EXPECT_EQ(pause_after({0ms, 0ms}), 0ms);
}

// Makes another thread compete for the only processor of this one.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
    other_ = std::thread([this] {
      while (!stop_) continue;
    });
  }
  ~OneProcessor() {
    stop_ = true;
    other_.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  std::atomic<bool> stop_ = false;
  std::thread other_;
};

// Long enough for a pause of more than 30 ms.
void run_and_wait() {
  const auto start = times_of_this_thread();
  ASSERT_TRUE(start.has_value());
  ThreadTimes now;
  do now = *times_of_this_thread();
  while (now.waited - start->waited < 5ms || now.ran - start->ran < 4ms);
}

// Time that is spent in a request and not in running or waiting for a processor.
std::chrono::nanoseconds time_asleep(CompactionPacer& pacer, ::rocksdb::Env::IOPriority priority) {
  const OneProcessor busy;
  pacer.Request(1, ::rocksdb::Env::IO_LOW, nullptr, OpType::kWrite);
  run_and_wait();
  const auto began = std::chrono::steady_clock::now();
  const auto before = times_of_this_thread();
  pacer.Request(1, priority, nullptr, OpType::kWrite);
  const auto after = times_of_this_thread();
  const auto elapsed = std::chrono::steady_clock::now() - began;
  return elapsed - (after->ran - before->ran) - (after->waited - before->waited);
}

TEST(CompactionPacer, SleepsWhileAnotherThreadNeedsTheProcessor) {
  CompactionPacer pacer([] { return false; });
  EXPECT_GT(time_asleep(pacer, ::rocksdb::Env::IO_LOW), 10ms);
}

TEST(CompactionPacer, UrgentCompactionsFlushesAndDelayedWritesDoNotSleep) {
  CompactionPacer urgent([] { return true; });
  EXPECT_LT(time_asleep(urgent, ::rocksdb::Env::IO_LOW), 10ms);
  CompactionPacer pacer([] { return false; });
  EXPECT_LT(time_asleep(pacer, ::rocksdb::Env::IO_HIGH), 10ms);
  EXPECT_LT(time_asleep(pacer, ::rocksdb::Env::IO_USER), 10ms);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
