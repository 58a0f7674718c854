#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sibyl::base {
namespace {

TEST(Clock, ManualClockStandsStill) {
  ManualClock clock(1'500'000);
  EXPECT_EQ(clock.now_micros(), 1'500'000);
  EXPECT_EQ(clock.now_seconds(), 1);
  clock.advance_seconds(2);
  EXPECT_EQ(clock.now_micros(), 3'500'000);
  clock.set_micros(7);
  EXPECT_EQ(clock.now_micros(), 7);
}

TEST(Clock, SystemClockIsTheWallClock) {
  using namespace std::chrono;
  const auto wall = [] {
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  };
  SystemClock clock;
  const int64_t before = wall();
  const int64_t now = clock.now_micros();
  EXPECT_LE(before, now);
  EXPECT_LE(now, wall());
}

}  // namespace
}  // namespace sibyl::base
