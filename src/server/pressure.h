// What tells how hard the server is pressed.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sibyl::server {

// To a few milliseconds, and for next to nothing.
std::chrono::steady_clock::time_point coarse_now();

// How long an event waits for its turn on a reactor: now and then it sends itself one and waits for it with
// all others that are ready. A pause of the whole thread does not count: nobody is to be refused for that.
// Threads: the reactor's.
class LagProbe {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  LagProbe(boost::asio::io_context& context, std::chrono::milliseconds tolerated);
  void start();
  void stop();

  // Called when a burst of requests has come.
  void tick(TimePoint now);
  // Events wait longer than is tolerated.
  bool is_late() const { return waited_ >= tolerated_; }

 private:
  void listen();

  boost::asio::posix::stream_descriptor event_;
  const std::chrono::steady_clock::duration tolerated_;
  std::chrono::steady_clock::duration waited_{0};
  TimePoint ticked_;  // last
  TimePoint sent_;
  uint64_t count_ = 0;
  bool is_under_way_ = false;
};

// How many calls a reactor has in flight at most, when it finishes `rate` of them a second: few, so that
// nobody waits long for what others have sent. A slow device gets more at once, to be busy with some while
// others gather.
size_t calls_to_have_in_flight(double rate, std::chrono::microseconds sync_time, size_t most);

// So many requests a second, of all connections together; a tenth of a second's worth at once. Any thread.
class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  explicit RateLimiter(size_t per_second)
      : interval_(per_second == 0 ? 0 : 1'000'000'000 / static_cast<int64_t>(per_second)) {}

  // Takes one in any case. How long to wait before the next.
  Duration reserve(TimePoint now);
  // Takes one if none has to wait.
  bool try_reserve(TimePoint now);

 private:
  const Duration interval_;
  std::mutex mutex_;
  TimePoint next_;  // when all that were taken have had their time
};

}  // namespace sibyl::server
