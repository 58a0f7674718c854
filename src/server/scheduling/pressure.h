// Measures of load, and the limits that follow from them.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/mutex.h"

namespace sibyl::server {

// A cheap clock with a resolution of a few milliseconds.
std::chrono::steady_clock::time_point coarse_now();

// Measures how long events wait on a reactor. From time to time it sends itself an event, which waits in line
// with all others that are ready. A pause of the whole thread is not counted, because no request should be
// refused for that. Used only on the reactor's thread.
class LagProbe {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  LagProbe(boost::asio::io_context& context, std::chrono::milliseconds tolerated);
  void start();
  void stop();

  // Called when a burst of requests has arrived.
  void tick(TimePoint now);
  // True if events wait for `tolerated` or longer.
  bool is_late() const { return waited_ >= tolerated_; }

 private:
  void listen();

  boost::asio::posix::stream_descriptor event_;
  const std::chrono::steady_clock::duration tolerated_;
  std::chrono::steady_clock::duration waited_{0};
  TimePoint ticked_;  // the time of the last tick()
  TimePoint sent_;
  uint64_t count_ = 0;
  bool is_under_way_ = false;
};

// Returns how many requests a reactor that finishes `rate` requests per second may have in flight, at most
// `limit`. The number is small, so that a request does not wait long behind those of other clients. It grows
// with `sync_time`, so that a slow device has enough requests for its group commits.
size_t max_requests_in_flight(double rate, std::chrono::microseconds sync_time, size_t limit);

// Limits the requests per second of all connections together. Allows bursts of a tenth of a second's
// requests. Thread-safe.
class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  explicit RateLimiter(size_t per_second)
      : interval_(per_second == 0 ? 0 : 1'000'000'000 / static_cast<int64_t>(per_second)) {}

  // Counts a request in any case. Returns how long to wait before the next one.
  Duration reserve(TimePoint now);
  // Counts a request and returns true if it does not have to wait.
  bool try_reserve(TimePoint now);

 private:
  const Duration interval_;
  base::Mutex mutex_;
  TimePoint next_ SIBYL_GUARDED_BY(mutex_);  // the time from which all counted requests are within the rate
};

}  // namespace sibyl::server
