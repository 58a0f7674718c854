#include "execute/environment.h"

#include <algorithm>

namespace sibyl::execute {

int64_t TimestampSource::next() {
  const int64_t now = std::min(clock_.now_micros(), limit_.load(std::memory_order_relaxed));
  int64_t last = last_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(now, last + 1);
  } while (!last_.compare_exchange_weak(last, next, std::memory_order_relaxed));
  return next;
}

void TimestampSource::start_above(int64_t timestamp) {
  int64_t last = last_.load(std::memory_order_relaxed);
  while (last < timestamp && !last_.compare_exchange_weak(last, timestamp, std::memory_order_relaxed)) {
  }
}

}  // namespace sibyl::execute
