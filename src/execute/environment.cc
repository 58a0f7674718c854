#include "execute/environment.h"

#include <algorithm>

namespace sibyl::execute {

int64_t TimestampSource::next() {
  const int64_t now = clock_.now_micros();
  int64_t last = last_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(now, last + 1);
  } while (!last_.compare_exchange_weak(last, next, std::memory_order_relaxed));
  return next;
}

}  // namespace sibyl::execute
