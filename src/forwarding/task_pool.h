// A few threads for tasks that may block.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace sibyl::forwarding {

// Thread-safe.
class TaskPool {
 public:
  using Task = std::move_only_function<void()>;

  TaskPool(size_t threads, size_t max_waiting);
  // Runs the tasks that wait.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // Returns false if too many tasks wait; `task` is unchanged then.
  bool submit(Task& task);

 private:
  void loop();

  const size_t max_waiting_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Task> tasks_ SIBYL_GUARDED_BY(mutex_);
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::forwarding
