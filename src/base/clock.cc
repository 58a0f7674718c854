#include "base/clock.h"

#include <chrono>

namespace sibyl::base {

int64_t SystemClock::now_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace sibyl::base
