#include "auth/attempts.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace sibyl::auth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Attempts::Clock::time_point start = Attempts::Clock::time_point() + seconds(1000);

// Returns how long an attempt must wait.
std::optional<milliseconds> wait_before(Attempts& attempts, std::string_view address, std::string_view role,
                                        Attempts::Clock::time_point now) {
  const auto turn = attempts.take_turn(address, role, now);
  if (!turn) return std::nullopt;
  return turn->wait;
}

TEST(Attempts, AFewFailuresAreNotDelayed) {
  Attempts attempts;
  for (unsigned i = 0; i < Attempts::free_failures; ++i) {
    EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", start), milliseconds(0));
    attempts.record_failure("1.2.3.4", "bob", start);
  }
  EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", start), milliseconds(0));
}

TEST(Attempts, FurtherFailuresFromAnAddressWaitLongerEach) {
  Attempts attempts;
  auto now = start;
  milliseconds last(0);
  for (int i = 0; i < 20; ++i) {
    const auto wait = wait_before(attempts, "1.2.3.4", "role" + std::to_string(i), now);
    ASSERT_TRUE(wait);
    EXPECT_GE(*wait, last);
    last = *wait;
    now += *wait;
    attempts.record_failure("1.2.3.4", "role" + std::to_string(i), now);
  }
  EXPECT_EQ(last, Attempts::max_address_delay);
}

TEST(Attempts, ConcurrentAttemptsQueueUpToALimit) {
  Attempts attempts;
  for (int i = 0; i < 20; ++i) attempts.record_failure("1.2.3.4", "", start);
  milliseconds last(0);
  int admitted = 0;
  while (const auto wait = wait_before(attempts, "1.2.3.4", "bob", start)) {
    EXPECT_GT(*wait, last);
    last = *wait;
    ASSERT_LT(++admitted, 100);
  }
  EXPECT_LE(last, Attempts::max_wait);
  EXPECT_EQ(admitted, Attempts::max_wait / Attempts::max_address_delay);
}

TEST(Attempts, ConcurrentAttemptsAreSlowedOnceTheyFail) {
  Attempts attempts;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", start), milliseconds(0));
  EXPECT_FALSE(attempts.must_queue("1.2.3.4", "bob", start));
  for (unsigned i = 0; i <= Attempts::free_failures; ++i) attempts.record_failure("1.2.3.4", "bob", start);
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "bob", start));
  EXPECT_FALSE(attempts.must_queue("5.6.7.8", "bob", start));
}

TEST(Attempts, OtherAddressesDoNotWait) {
  Attempts attempts;
  for (int i = 0; i < 50; ++i) attempts.record_failure("1.2.3.4", "bob", start);
  EXPECT_EQ(wait_before(attempts, "5.6.7.8", "alice", start), milliseconds(0));
}

TEST(Attempts, RolesCannotBeLockedOut) {
  Attempts attempts;
  for (int i = 0; i < 1000; ++i) attempts.record_failure("10.0.0." + std::to_string(i % 250), "bob", start);
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(wait_before(attempts, "5.6.7.8", "bob", start).value(), Attempts::max_role_delay);
  attempts.record_success("5.6.7.8", "bob", start);
  EXPECT_EQ(wait_before(attempts, "5.6.7.8", "bob", start), milliseconds(0));
}

TEST(Attempts, ASuccessDoesNotResetTheAddress) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.record_failure("1.2.3.4", "bob", start);
  attempts.record_success("1.2.3.4", "mallory", start);
  EXPECT_GT(wait_before(attempts, "1.2.3.4", "alice", start).value(), milliseconds(0));
}

// An attempt that waits only because of its role is not in the address's queue. Whether it must queue is
// checked again after the wait.
TEST(Attempts, ARolesDelayIsNotAPlaceInTheAddressQueue) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.record_failure("10.0.0." + std::to_string(i), "bob", start);
  const auto turn = attempts.take_turn("5.6.7.8", "bob", start);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->wait, Attempts::max_role_delay);
  EXPECT_FALSE(turn->in_address_queue);
  for (int i = 0; i < 10; ++i) attempts.record_failure("5.6.7.8", "alice", start);
  EXPECT_TRUE(attempts.must_queue("5.6.7.8", "bob", start));
  EXPECT_TRUE(attempts.take_turn("5.6.7.8", "bob", start)->in_address_queue);
}

TEST(Attempts, KnownRolesAreNotLockedOutByOthersAtTheirAddress) {
  Attempts attempts;
  attempts.record_success("1.2.3.4", "bob", start);
  for (int i = 0; i < 50; ++i) attempts.record_failure("1.2.3.4", "mallory", start);
  while (attempts.take_turn("1.2.3.4", "mallory", start)) {
  }
  EXPECT_EQ(attempts.take_turn("1.2.3.4", "bob", start), Attempts::Turn());
  EXPECT_FALSE(attempts.must_queue("1.2.3.4", "bob", start));
  // Other roles, and the same role elsewhere, must queue.
  EXPECT_FALSE(attempts.take_turn("1.2.3.4", "alice", start));
  for (int i = 0; i < 50; ++i) attempts.record_failure("5.6.7.8", "mallory", start);
  EXPECT_TRUE(attempts.must_queue("5.6.7.8", "bob", start));
  const auto later = start + Attempts::known_lifetime;
  for (int i = 0; i < 50; ++i) attempts.record_failure("1.2.3.4", "mallory", later);
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "bob", later));
}

TEST(Attempts, KnownRolesQueueAfterTheirOwnFailures) {
  Attempts attempts;
  attempts.record_success("1.2.3.4", "bob", start);
  for (int i = 0; i < 50; ++i) attempts.record_failure("1.2.3.4", "mallory", start);
  for (unsigned i = 0; i < Attempts::free_failures; ++i) {
    EXPECT_FALSE(attempts.must_queue("1.2.3.4", "bob", start));
    attempts.record_failure("1.2.3.4", "bob", start);
  }
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "bob", start));
  attempts.record_success("1.2.3.4", "bob", start);
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "bob", start));
  const auto later = start + Attempts::failure_lifetime;
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "mallory", later));
  EXPECT_FALSE(attempts.must_queue("1.2.3.4", "bob", later));
}

TEST(Attempts, ANetworkOfIPv6CountsAsOneAddress) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i)
    attempts.record_failure("2001:db8:0:1::" + std::to_string(i), "role" + std::to_string(i), start);
  EXPECT_TRUE(attempts.must_queue("2001:db8:0:1::ffff", "bob", start));
  EXPECT_FALSE(attempts.must_queue("2001:db8:0:2::1", "bob", start));
  for (int i = 0; i < 10; ++i) attempts.record_failure("::ffff:1.2.3.4", "role" + std::to_string(i), start);
  EXPECT_TRUE(attempts.must_queue("1.2.3.4", "bob", start));
}

TEST(Attempts, FailuresExpire) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.record_failure("1.2.3.4", "bob", start);
  const auto later = start + 100 * Attempts::failure_lifetime;
  EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", later), milliseconds(0));
}

// Names that occur once do not evict an address that fails repeatedly.
TEST(Attempts, AFloodOfNamesDoesNotHideAnAddress) {
  Attempts attempts(64);
  for (int i = 0; i < 10'000; ++i) attempts.record_failure("1.2.3.4", "role" + std::to_string(i), start);
  EXPECT_TRUE(!wait_before(attempts, "1.2.3.4", "bob", start) ||
              wait_before(attempts, "1.2.3.4", "bob", start) > milliseconds(0));
}

}  // namespace
}  // namespace sibyl::auth
