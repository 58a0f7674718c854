#include "base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sibyl::base {
namespace {

timespec to_timespec(CondVar::TimePoint time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto nanos = std::chrono::nanoseconds(time.time_since_epoch() - seconds);
  return {.tv_sec = std::max<time_t>(seconds.count(), 0), .tv_nsec = nanos.count()};
}

}  // namespace

// A thread that changes the awaited state holds the mutex while it does, and notifies afterwards. A waiting
// thread is counted, and has read `notifications_`, before it releases the mutex. So the notification reaches
// it.
bool CondVar::wait_until(Mutex& mutex, TimePoint deadline) {
  waiting_.fetch_add(1);
  const uint32_t seen = notifications_.load();
  mutex.unlock();
  const timespec until = to_timespec(deadline);
  const long result =
      ::syscall(SYS_futex, &notifications_, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen,
                deadline == TimePoint::max() ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  const bool has_passed = result != 0 && errno == ETIMEDOUT;
  mutex.lock();
  waiting_.fetch_sub(1);
  return !has_passed;
}

void CondVar::notify(int threads) {
  notifications_.fetch_add(1);
  if (waiting_.load() == 0) return;
  ::syscall(SYS_futex, &notifications_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, threads, nullptr, nullptr, 0);
}

}  // namespace sibyl::base
