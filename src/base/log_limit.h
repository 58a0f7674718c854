// Limits the rate of log lines that clients can cause. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace sibyl::base {

class LogLimit {
 public:
  explicit LogLimit(uint64_t per_second) : per_second_(per_second) {}

  // Returns the number of lines suppressed since the last admitted one, or nullopt if this line must be
  // suppressed.
  std::optional<uint64_t> admit(std::chrono::steady_clock::time_point now) {
    const MutexLock lock(mutex_);
    if (now - began_ >= std::chrono::seconds(1)) {
      began_ = now;
      lines_ = 0;
    }
    if (lines_ >= per_second_) {
      ++suppressed_;
      return std::nullopt;
    }
    ++lines_;
    return std::exchange(suppressed_, 0);
  }

 private:
  const uint64_t per_second_;
  Mutex mutex_;
  std::chrono::steady_clock::time_point began_ SIBYL_GUARDED_BY(mutex_);
  uint64_t lines_ SIBYL_GUARDED_BY(mutex_) = 0;
  uint64_t suppressed_ SIBYL_GUARDED_BY(mutex_) = 0;
};

// The end of a line that was admitted: " (3 more not logged)", or nothing if none was suppressed.
inline std::string suppressed_note(uint64_t suppressed) {
  return suppressed == 0 ? std::string() : " (" + std::to_string(suppressed) + " more not logged)";
}

}  // namespace sibyl::base
