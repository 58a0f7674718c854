#include "forwarding/task_pool.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "base/contain.h"

namespace sibyl::forwarding {

TaskPool::TaskPool(size_t threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { loop(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-forward");
  }
}

TaskPool::~TaskPool() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool TaskPool::submit(Task& task) {
  {
    const base::MutexLock lock(mutex_);
    if (tasks_.size() >= max_waiting_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void TaskPool::loop() {
  base::MutexLock lock(mutex_);
  for (;;) {
    if (tasks_.empty()) {
      if (is_stopping_) return;
      changed_.wait(mutex_);
      continue;
    }
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    if (const auto status = base::contain([&] { task(); }); !status)
      spdlog::error("a statement of a cluster failed: {}", status.error().text());
    task = nullptr;  // the task is destroyed without the mutex
    lock.lock();
  }
}

}  // namespace sibyl::forwarding
