#include "cluster/runtime/thread_executor.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sibyl::cluster {

// The longest wait between two reads of the clock: condition variables do not count the time that a machine
// sleeps.
constexpr int64_t max_wait_micros = 1'000'000;

ThreadExecutor::ThreadExecutor() : thread_([this] { run(); }) {}

ThreadExecutor::~ThreadExecutor() {
  stop();
}

int64_t ThreadExecutor::now_micros() const {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

void ThreadExecutor::run_after(int64_t micros, Task task) {
  const int64_t due = now_micros() + micros;
  base::MutexLock lock(mutex_);
  tasks_.emplace(due, std::move(task));
  changed_.notify_one();
}

void ThreadExecutor::stop() {
  std::multimap<int64_t, Task> dropped;
  {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  base::MutexLock lock(mutex_);
  dropped.swap(tasks_);
  lock.unlock();  // destroying a task may add tasks
  dropped.clear();
  lock.lock();
}

void ThreadExecutor::run() {
  base::MutexLock lock(mutex_);
  while (!is_stopping_) {
    const int64_t now = now_micros();
    if (tasks_.empty() || tasks_.begin()->first > now) {
      const int64_t wait =
          tasks_.empty() ? max_wait_micros : std::min(tasks_.begin()->first - now, max_wait_micros);
      changed_.wait_for(mutex_, std::chrono::microseconds(wait));
      continue;
    }
    Task task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    lock.unlock();
    task();
    task = nullptr;  // the task is destroyed without the mutex
    lock.lock();
  }
}

}  // namespace sibyl::cluster
