#include "server/blocking_pool.h"

#include <pthread.h>

namespace sibyl::server {

BlockingPool::BlockingPool(unsigned threads, size_t queue_limit, Run run)
    : queue_limit_(queue_limit), run_(run) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-blocking");
  }
}

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool BlockingPool::submit(Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= queue_limit_) return false;
    queue_.push_back(&call);
  }
  ready_.notify_one();
  return true;
}

void BlockingPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Call* call = queue_.front();
    queue_.pop_front();
    lock.unlock();
    run_(*call);
    lock.lock();
  }
}

}  // namespace sibyl::server
