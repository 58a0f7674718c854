#include "server/connection/reactor_time.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

using std::chrono::microseconds;

TEST(ReactorTime, EndsForARequestThatComputes) {
  ReactorTime time;
  time.start();
  EXPECT_TRUE(time.may_continue({microseconds(1'000'000), 7}));
  EXPECT_FALSE(time.may_continue({microseconds(1'009'000), 7}));
}

TEST(ReactorTime, EndsForARequestThatWaitsForTheDevice) {
  ReactorTime time;
  time.start();
  EXPECT_TRUE(time.may_continue({microseconds(1'000'000), 7}));
  EXPECT_FALSE(time.may_continue({microseconds(1'000'100), 8}));
}

TEST(ReactorTime, ContinuesWhileTheThreadIsNotScheduled) {
  ReactorTime time;
  time.start();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(time.may_continue({microseconds(1'000'000 + 500 * i), 7}));
  EXPECT_FALSE(time.may_continue({microseconds(1'012'000), 7}));
}

TEST(ReactorTime, BeginsAgainForTheNextRequest) {
  ReactorTime time;
  time.start();
  EXPECT_TRUE(time.may_continue({microseconds(1'000'000), 7}));
  time.start();
  EXPECT_TRUE(time.may_continue({microseconds(1'020'000), 9}));
  EXPECT_FALSE(time.may_continue({microseconds(1'040'000), 9}));
}

TEST(ThreadUsage, GrowsWithTheWorkOfThisThread) {
  const ThreadUsage before = ThreadUsage::of_this_thread();
  while (ThreadUsage::of_this_thread().cpu - before.cpu < microseconds(5'000)) {
  }
  EXPECT_GE(ThreadUsage::of_this_thread().waits, before.waits);
}

}  // namespace
}  // namespace sibyl::server
