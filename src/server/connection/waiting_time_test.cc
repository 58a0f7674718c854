#include "server/connection/waiting_time.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

using std::chrono::milliseconds;

class WaitingTimeTest : public testing::Test {
 protected:
  WaitingTime::TimePoint at(int milliseconds_later) const {
    return start_ + milliseconds(milliseconds_later);
  }

  const WaitingTime::TimePoint start_ = WaitingTime::TimePoint() + std::chrono::hours(1);
  WaitingTime waiting_;
};

TEST_F(WaitingTimeTest, NothingWaitsWithoutAMark) {
  EXPECT_FALSE(waiting_.has_waited(at(100'000), 0, milliseconds(0)));
}

TEST_F(WaitingTimeTest, BytesBeforeAMarkWaitSinceThen) {
  waiting_.mark(at(0), 100);
  waiting_.mark(at(1000), 200);
  EXPECT_FALSE(waiting_.has_waited(at(1999), 50, milliseconds(2000)));
  EXPECT_TRUE(waiting_.has_waited(at(2000), 50, milliseconds(2000)));
  // The byte at 100 arrived after the first mark.
  EXPECT_FALSE(waiting_.has_waited(at(2000), 100, milliseconds(2000)));
  EXPECT_TRUE(waiting_.has_waited(at(3000), 199, milliseconds(2000)));
  EXPECT_FALSE(waiting_.has_waited(at(9000), 200, milliseconds(2000)));
  EXPECT_FALSE(waiting_.has_marks());
}

TEST_F(WaitingTimeTest, MarksAreRare) {
  EXPECT_TRUE(waiting_.needs_mark(at(0)));
  waiting_.mark(at(0), 100);
  EXPECT_FALSE(waiting_.needs_mark(at(249)));
  EXPECT_TRUE(waiting_.needs_mark(at(250)));
}

TEST_F(WaitingTimeTest, ExcludedTimeDoesNotCount) {
  waiting_.mark(at(0), 100);
  waiting_.exclude(at(1500), milliseconds(1000));
  EXPECT_FALSE(waiting_.has_waited(at(2999), 0, milliseconds(2000)));
  EXPECT_TRUE(waiting_.has_waited(at(3000), 0, milliseconds(2000)));
}

TEST_F(WaitingTimeTest, ExcludedTimeNeverExceedsTheWait) {
  waiting_.mark(at(0), 100);
  waiting_.exclude(at(100), milliseconds(5000));
  EXPECT_TRUE(waiting_.has_waited(at(2100), 0, milliseconds(2000)));
}

TEST_F(WaitingTimeTest, ASlowClientWaitsForItself) {
  waiting_.mark(at(0), 100);
  waiting_.set_client_behind(true, at(500));
  waiting_.set_client_behind(true, at(700));
  EXPECT_FALSE(waiting_.has_waited(at(9000), 0, milliseconds(2000)));
  waiting_.set_client_behind(false, at(9500));
  EXPECT_FALSE(waiting_.is_client_behind());
  EXPECT_FALSE(waiting_.has_waited(at(10'999), 0, milliseconds(2000)));
  EXPECT_TRUE(waiting_.has_waited(at(11'000), 0, milliseconds(2000)));
}

}  // namespace
}  // namespace sibyl::server
