// Group commit: one thread takes all waiting write sets and writes them as one group.
//
// While a group is written and synced, the next one collects. Under load every sync therefore serves many
// commits, and submitting a write set costs one lock and no wake-up. The queue is bounded in bytes; when it
// is full, commits are refused immediately.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/histogram.h"
#include "base/log_limit.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class Committer {
 public:
  struct Request {
    WriteSet writes;
    Store::Done done;
    base::Status status{};  // may be set by `write` if only this request failed
  };
  struct Work {
    // Makes the whole group durable and visible, or none of it, except requests whose status it sets.
    std::function<base::Status(std::span<Request> group)> write;
    // Called when `interval` has passed since the last call, if something was written since then. Also called
    // if the last call returned false, which requests a retry.
    std::function<bool()> pause;
    std::chrono::milliseconds interval{0};  // 0: never
    uint64_t queue_bytes = 64 << 20;
    uint64_t group_bytes = 4 << 20;  // a group is closed when it reaches this size
  };

  explicit Committer(Work work);
  // Writes everything that is queued, then stops the thread.
  ~Committer();

  void submit(WriteSet writes, Store::Done done);

  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }
  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  base::HistogramSnapshot group_sizes() const { return group_sizes_.snapshot(); }

 private:
  void loop();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  void take_group(std::vector<Request>& group);
  void write_group(std::vector<Request>& group);

  const Work work_;
  std::mutex mutex_;
  std::condition_variable woken_;
  // Requests from queue_begin_ on; guarded by mutex_, like all members up to next_pause_.
  std::vector<Request> queue_;
  size_t queue_begin_ = 0;
  uint64_t queued_bytes_ = 0;
  bool sleeping_ = false;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point next_pause_ = std::chrono::steady_clock::time_point::max();
  std::atomic<uint64_t> groups_ = 0;
  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  base::Histogram group_sizes_;  // recorded by the committer's thread
  base::LogLimit thrown_{1};
  std::thread thread_;
};

}  // namespace sibyl::storage::rocksdb
