// Ends a copy in order when the user or the system asks for it.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace sibyl::cli::migrate {

// While an object exists, the first SIGINT or SIGTERM calls `notify`, on a thread of the object, and the
// second one ends the process. Threads that exist already must have blocked both signals.
class Interruption {
 public:
  explicit Interruption(std::function<void()> notify);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  void run(const std::function<void()>& notify) const;

  sigset_t signals_{}, former_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace sibyl::cli::migrate
