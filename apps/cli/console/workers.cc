#include "cli/console/workers.h"

#include <pthread.h>

#include "base/mutex.h"

namespace sibyl::cli::console {

Workers::Workers() {
  for (size_t i = 0; i < max_threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-console");
  }
}

Workers::~Workers() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::submit(std::function<void()> work) {
  {
    const base::MutexLock lock(mutex_);
    if (is_stopping_ || waiting_.size() >= max_waiting) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Workers::run() {
  base::MutexLock lock(mutex_);
  for (;;) {
    while (!is_stopping_ && waiting_.empty()) changed_.wait(mutex_);
    if (is_stopping_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace sibyl::cli::console
