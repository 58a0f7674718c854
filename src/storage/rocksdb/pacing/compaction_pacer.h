// Slows compactions down while other threads wait for a processor.
//
// RocksDB asks a rate limiter before it writes each piece of a file. If the compaction's thread had to wait for a
// processor since its last piece, then requests had to wait as well, and the thread sleeps. Flushes never wait.
//
// Compactions cannot fall behind for this reason, because two kinds are not slowed down:
//
//  1. While the compaction is urgent, which the owner decides. Files that reads must look through are urgent.
//  2. While RocksDB delays writes. It then asks with another priority.
//
// Nothing is slowed down on an idle processor.
#pragma once

#include <rocksdb/rate_limiter.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace sibyl::storage::rocksdb {

// How long a thread has run, and how long it was ready to run but had no processor.
struct ThreadTimes {
  std::chrono::nanoseconds ran{0}, waited{0};
};

// Times of the calling thread; nullopt if the system does not report them.
std::optional<ThreadTimes> times_of_this_thread();

// Returns how long a compaction sleeps after it ran and waited for so long.
std::chrono::nanoseconds pause_after(const ThreadTimes& elapsed);

// Thread-safe.
class CompactionPacer final : public ::rocksdb::RateLimiter {
 public:
  explicit CompactionPacer(std::function<bool()> is_urgent) : is_urgent_(std::move(is_urgent)) {}

  using RateLimiter::Request;
  void Request(int64_t bytes, ::rocksdb::Env::IOPriority priority, ::rocksdb::Statistics* statistics,
               OpType type) override;

  // There is no limit of bytes.
  void SetBytesPerSecond(int64_t) override {}
  int64_t GetBytesPerSecond() const override { return 0; }
  int64_t GetSingleBurstBytes() const override { return 1 << 20; }
  int64_t GetTotalBytesThrough(::rocksdb::Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(::rocksdb::Env::IOPriority) const override { return 0; }

 private:
  const std::function<bool()> is_urgent_;
};

}  // namespace sibyl::storage::rocksdb
