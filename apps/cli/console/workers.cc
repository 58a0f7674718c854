#include "cli/console/workers.h"

#include <pthread.h>

namespace sibyl::cli::console {

Workers::Workers() {
  for (size_t i = 0; i < max_threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-console");
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ || waiting_.size() >= max_waiting) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace sibyl::cli::console
