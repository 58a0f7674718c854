// Group commit: one thread that takes all the write sets that wait and writes them as one.
//
// While it writes and syncs a group, the next one gathers; so under load every sync serves many, and handing
// over a write set costs a lock and no wake-up. The queue is bounded in bytes: beyond, commits are refused at
// once.
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
  };
  struct Work {
    // Makes the group durable and visible, or nothing of it.
    std::function<base::Status(std::span<Request> group)> write;
    // Called when `interval` has passed since the last call and something was written in between, or that
    // call was false: it is to be tried again.
    std::function<bool()> pause;
    std::chrono::milliseconds interval{0};  // 0: never
    uint64_t queue_bytes = 64 << 20;
    uint64_t group_bytes = 4 << 20;  // a group is closed when it has as many
  };

  explicit Committer(Work work);
  // Writes what waits, then ends.
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
  std::vector<Request> queue_;  // from queue_begin_ on; guarded by mutex_, as all up to the thread
  size_t queue_begin_ = 0;
  uint64_t queued_bytes_ = 0;
  bool sleeping_ = false;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point next_pause_ = std::chrono::steady_clock::time_point::max();
  std::atomic<uint64_t> groups_ = 0;
  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  base::Histogram group_sizes_;  // recorded by the thread
  base::LogLimit thrown_{1};
  std::thread thread_;
};

}  // namespace sibyl::storage::rocksdb
