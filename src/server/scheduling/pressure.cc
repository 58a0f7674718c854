#include "server/scheduling/pressure.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <utility>

namespace sibyl::server {

namespace {

constexpr std::chrono::milliseconds probe_interval{20};
constexpr std::chrono::milliseconds longest_tick{100};
constexpr std::chrono::milliseconds burst{100};

}  // namespace

std::chrono::steady_clock::time_point coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                               std::chrono::nanoseconds(now.tv_nsec));
}

LagProbe::LagProbe(boost::asio::io_context& context, std::chrono::milliseconds tolerated)
    : event_(context), tolerated_(tolerated) {
  const int file = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  boost::system::error_code error;
  if (file >= 0) event_.assign(file, error);
  if (!event_.is_open()) spdlog::warn("cannot detect overload: no file descriptor is available");
}

void LagProbe::start() {
  if (event_.is_open()) listen();
}

void LagProbe::stop() {
  boost::system::error_code ignored;
  event_.close(ignored);
}

void LagProbe::listen() {
  event_.async_read_some(boost::asio::buffer(&count_, sizeof count_),
                         [this](const boost::system::error_code& error, size_t) {
                           if (error) return;
                           is_under_way_ = false;
                           waited_ = {};
                           listen();
                         });
}

void LagProbe::tick(TimePoint now) {
  if (is_under_way_) {
    waited_ += std::min<std::chrono::steady_clock::duration>(now - ticked_, longest_tick);
  } else if (now - sent_ >= probe_interval && event_.is_open()) {
    const uint64_t one = 1;
    is_under_way_ = ::write(event_.native_handle(), &one, sizeof one) == sizeof one;
    sent_ = now;
  }
  ticked_ = now;
}

size_t max_requests_in_flight(double rate, std::chrono::microseconds sync_time, size_t limit) {
  constexpr std::chrono::microseconds min_wait{25'000}, max_wait{100'000};
  constexpr int syncs = 6;
  constexpr size_t least = 256;
  const std::chrono::duration<double> wait = std::clamp(syncs * sync_time, min_wait, max_wait);
  return std::clamp(static_cast<size_t>(rate * wait.count()), std::min(least, limit), limit);
}

RateLimiter::Duration RateLimiter::reserve(TimePoint now) {
  const base::MutexLock lock(mutex_);
  next_ = std::max(next_, now - burst) + interval_;
  return std::max<Duration>(next_ - now, Duration(0));
}

bool RateLimiter::try_reserve(TimePoint now) {
  const base::MutexLock lock(mutex_);
  const TimePoint wanted = std::max(next_, now - burst) + interval_;
  if (wanted > now) return false;
  next_ = wanted;
  return true;
}

}  // namespace sibyl::server
