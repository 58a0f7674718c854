// The threads of the console. Requests of the page may block, so they never run on the HTTP thread. They have
// their own few threads instead of those of the native protocol: however many requests the page sends, they
// take no thread from other clients, and overload by other clients does not lock the operator out.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace sibyl::cli::console {

class Workers {
 public:
  static constexpr size_t max_threads = 4, max_waiting = 64;

  Workers();
  // Waits for running work, and drops what has not begun.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Thread-safe. Returns false if too much work is waiting. `work` must not throw.
  bool submit(std::function<void()> work);

 private:
  void run();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> waiting_ SIBYL_GUARDED_BY(mutex_);
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::cli::console
