// Threads for requests that may wait: scans, reads before writes, schema changes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/monitor.h"
#include "plan/prepared.h"

namespace sibyl::server {

struct Call;

class BlockingPool {
 public:
  using Run = void (*)(Call&);

  BlockingPool(unsigned threads, size_t queue_limit, Run run);
  // Runs what is queued, then ends its threads.
  ~BlockingPool();

  // False when the queue is full.
  bool submit(Call& call);

  // --- For system_views. Any thread.
  engine::ThreadPool usage() const;
  std::vector<engine::RunningRequest> running() const;

 private:
  // What a thread is running.
  struct Slot {
    plan::PreparedPtr plan;  // nullptr: a BATCH, or a login
    std::chrono::steady_clock::time_point arrived, started;
    bool is_running = false;
    bool is_login = false;
  };
  void work(Slot& slot);

  const size_t queue_limit_;
  const Run run_;
  mutable std::mutex mutex_;  // guards what follows, up to the threads
  std::condition_variable ready_;
  std::deque<Call*> queue_;
  bool stopping_ = false;
  std::vector<Slot> slots_;  // one for each thread
  uint64_t completed_ = 0, refused_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::server
