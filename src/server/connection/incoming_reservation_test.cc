#include "server/connection/incoming_reservation.h"

#include <gtest/gtest.h>

#include <vector>

namespace sibyl::server {
namespace {

class IncomingReservationTest : public testing::Test {
 protected:
  static Limits limits_of_a_megabyte() {
    Limits limits;
    limits.total_incoming_bytes = 1'000'000;
    limits.frame_body_bytes = 500'000;
    return limits;
  }
  size_t total() const { return server_.incoming().bytes(); }

  const Limits limits_ = limits_of_a_megabyte();
  ServerLoad server_{limits_};
  ReactorLoad& own_ = server_.add_reactor();
  ReactorLoad& other_ = server_.add_reactor();
  IncomingReservation reservation_{limits_, server_, own_};
  IncomingReservation others_{limits_, server_, other_};
};

TEST_F(IncomingReservationTest, CountsWhatAMessageTakes) {
  struct Case {
    size_t held, size, begun, whole;
  };
  const std::vector<Case> cases = {
      {0, 0, 0, 0},
      {100, 4'000, 0, 0},                    // every connection has a buffer of this size anyway
      {2'000, 400'000, 0, 0},                // the buffer holds twice the received bytes
      {5'000, 400'000, 10'000, 0},           // too few bytes to trust the claimed length
      {25'000, 400'000, 0, 400'000},         // a sixteenth of the message has been received
      {200'000, 10'000'000, 0, 10'000'000},  // no other message has a reservation
  };
  for (const Case& one : cases) {
    IncomingReservation reservation(limits_, server_, own_);
    EXPECT_TRUE(reservation.reserve(one.held, one.size, true));
    EXPECT_EQ(server_.incoming().begun, one.begun) << one.held;
    EXPECT_EQ(server_.incoming().whole, one.whole) << one.held;
    EXPECT_EQ(reservation.is_empty(), one.begun + one.whole == 0);
    reservation.release();
    EXPECT_EQ(total(), 0u);
    EXPECT_TRUE(reservation.is_empty());
  }
}

TEST_F(IncomingReservationTest, AGrowingMessageReplacesItsReservation) {
  EXPECT_TRUE(reservation_.reserve(5'000, 400'000, true));
  EXPECT_TRUE(reservation_.reserve(10'000, 400'000, true));
  EXPECT_EQ(total(), 20'000u);
  EXPECT_TRUE(reservation_.reserve(50'000, 400'000, true));
  EXPECT_EQ(total(), 400'000u);
}

TEST_F(IncomingReservationTest, MessagesBeyondTheLimitMustWait) {
  EXPECT_TRUE(others_.reserve(300'000, 700'000, true));
  EXPECT_FALSE(reservation_.reserve(100'000, 400'000, true));
  EXPECT_EQ(total(), 700'000u);
  EXPECT_TRUE(reservation_.reserve(100'000, 300'000, true));
  reservation_.release();
  others_.release();
  EXPECT_TRUE(reservation_.reserve(100'000, 400'000, true));
}

TEST_F(IncomingReservationTest, ClientsWithoutLoginHaveAShare) {
  EXPECT_TRUE(others_.reserve(100'000, 200'000, true));
  EXPECT_FALSE(reservation_.reserve(50'000, 60'000, false));
  EXPECT_TRUE(reservation_.reserve(50'000, 60'000, true));
}

TEST_F(IncomingReservationTest, IsContendedNearTheLimit) {
  EXPECT_FALSE(reservation_.is_contended());
  EXPECT_TRUE(reservation_.reserve(100'000, 200'000, true));
  EXPECT_FALSE(reservation_.is_contended());
  EXPECT_TRUE(others_.reserve(100'000, 400'000, true));
  EXPECT_TRUE(reservation_.is_contended());
  reservation_.release();
  EXPECT_FALSE(reservation_.is_contended());
}

}  // namespace
}  // namespace sibyl::server
