// Estimates the recent rate of a counter per second. In fifteen minutes, the weight of an event falls by a
// factor of e. The more often the counter is sampled, the better the estimate.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace sibyl::engine {

// Not thread-safe.
class RecentRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentRate(Time start) : last_time_(start) {}

  // Records the current value of the counter.
  void update(uint64_t count, Time now) {
    const double seconds = std::chrono::duration<double>(now - last_time_).count();
    if (seconds <= 0) return;
    const double rate = static_cast<double>(count - last_count_) / seconds;
    const double weight = is_new_ ? 1 : 1 - std::exp(-seconds / decay_seconds);
    per_second_ += weight * (rate - per_second_);
    is_new_ = false;
    last_count_ = count;
    last_time_ = now;
  }
  double per_second() const { return per_second_; }

 private:
  static constexpr double decay_seconds = 15 * 60;

  Time last_time_;
  uint64_t last_count_ = 0;
  double per_second_ = 0;
  bool is_new_ = true;
};

}  // namespace sibyl::engine
