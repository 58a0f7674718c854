// Threads for requests that may wait: scans, reads before writes, schema changes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

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

 private:
  void work();

  const size_t queue_limit_;
  const Run run_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Call*> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::server
