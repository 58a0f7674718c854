#include "server/scheduling/wake_event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <thread>
#include <vector>

namespace sibyl::server {
namespace {

class WakeEventTest : public testing::Test {
 protected:
  void run() {
    event_.start();
    context_.run();
  }

  boost::asio::io_context context_;
  std::atomic<int> sent_{0}, seen_{0};
  WakeEvent event_{context_, [this] {
                     seen_ = sent_.load();
                     if (seen_ == expected_) event_.stop();
                   }};
  static constexpr int expected_ = 40'000;
};

// The context would run forever if a notification were lost.
TEST_F(WakeEventTest, EachNotificationIsFollowedByACall) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([this] {
      for (int i = 0; i < expected_ / 4; ++i) {
        ++sent_;
        event_.notify();
      }
    });
  run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen_, expected_);
}

TEST_F(WakeEventTest, ANotificationBeforeTheContextRunsIsSeen) {
  sent_ = expected_;
  event_.notify();
  run();
  EXPECT_EQ(seen_, expected_);
}

TEST_F(WakeEventTest, StoppingEndsTheContext) {
  boost::asio::post(context_, [this] { event_.stop(); });
  run();
  EXPECT_EQ(seen_, 0);
}

}  // namespace
}  // namespace sibyl::server
