// The threads of the console. Requests of the page may block, so they never run on the HTTP thread. They have
// their own few threads instead of those of the native protocol: however many requests the page sends, they
// take no thread from other clients, and overload by other clients does not lock the operator out.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::cli::console
