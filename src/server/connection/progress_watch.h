// Decides when a client that makes too little progress must be disconnected. Used only on the reactor's
// thread.
//
// Progress is a counter of bytes that only grows. Within each timeout it must grow by a minimum.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sibyl::server {

// A client must send at least this many bytes of an incomplete message within Limits::unsent_timeout. While
// memory is scarce, it must also read this many bytes of its results within the timeout.
inline constexpr size_t min_progress_bytes = 64u << 10;

class ProgressWatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  bool is_active() const { return since_ != TimePoint{}; }
  // Starts a new period. REQUIRES: `now` is not zero.
  void start(TimePoint now, uint64_t progress) {
    since_ = now;
    progress_before_ = progress;
  }
  void stop() { since_ = {}; }
  TimePoint since() const { return since_; }
  // True if the current period has ended. Then call start() again, or disconnect the client.
  bool is_due(TimePoint now, Duration timeout) const { return now - since_ >= timeout; }
  // The progress in the current period.
  uint64_t since_start(uint64_t progress) const { return progress - progress_before_; }

 private:
  TimePoint since_;  // zero: not active
  uint64_t progress_before_ = 0;
};

}  // namespace sibyl::server
