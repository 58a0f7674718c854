// An executor with a thread of its own and real time.
#pragma once

#include <cstdint>
#include <map>
#include <thread>

#include "base/executor.h"
#include "base/mutex.h"

namespace sibyl::cluster {

// All functions are thread-safe. Tasks run one at a time, in the order of their times.
class ThreadExecutor final : public base::Executor {
 public:
  ThreadExecutor();
  // Calls stop().
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  // CLOCK_BOOTTIME: it keeps running while the process is stopped and while the machine sleeps.
  int64_t now_micros() const override;
  void run_after(int64_t micros, Task task) override;

  // Waits for the running task and destroys the others. Tasks that are added later do not run.
  // REQUIRES: not called by a task.
  void stop();

 private:
  void run();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::multimap<int64_t, Task> tasks_ SIBYL_GUARDED_BY(mutex_);  // by time
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sibyl::cluster
