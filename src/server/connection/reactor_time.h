// How long one request may occupy its reactor's thread, on which other connections wait.
//
// Time in which the thread was not scheduled, because the machine is busy, should not count. So the thread's
// CPU usage is recorded when half of the time has passed. At the end, the request must leave the reactor only
// if the thread has computed or waited (for the device, for a lock) since then.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace sibyl::server {

struct ThreadUsage {
  std::chrono::microseconds cpu{0};
  long waits = 0;  // how often the thread has given up its processor

  static ThreadUsage of_this_thread() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    const auto micros = [](const timeval& time) {
      return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return {micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_nvcsw};
  }
};

class ReactorTime {
 public:
  static constexpr std::chrono::microseconds half{2'500};

  void start() { is_half_over_ = false; }

  // Called when `half` has passed since the start, or since it last returned true. Returns true if the
  // request may continue for another `half`.
  bool may_continue(const ThreadUsage& now) {
    const bool is_first = !is_half_over_;
    const bool was_preempted = now.waits == noted_.waits && now.cpu - noted_.cpu < half / 4;
    is_half_over_ = true;
    noted_ = now;
    return is_first || was_preempted;
  }

 private:
  bool is_half_over_ = false;
  ThreadUsage noted_;
};

}  // namespace sibyl::server
