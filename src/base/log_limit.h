// Limits the rate of log lines that clients can cause. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace sibyl::base {

class LogLimit {
 public:
  explicit LogLimit(uint64_t per_second) : per_second_(per_second) {}

  // Returns how many lines were suppressed since the last admitted one, or nullopt if this line must be
  // suppressed.
  std::optional<uint64_t> admit(std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(mutex_);
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
  std::mutex mutex_;
  std::chrono::steady_clock::time_point began_;
  uint64_t lines_ = 0, suppressed_ = 0;
};

}  // namespace sibyl::base
