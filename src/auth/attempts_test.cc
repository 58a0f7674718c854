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

// How long an attempt waits.
std::optional<milliseconds> wait_before(Attempts& attempts, std::string_view address, std::string_view role,
                                        Attempts::Clock::time_point now) {
  const auto turn = attempts.take_turn(address, role, now);
  if (!turn) return std::nullopt;
  return turn->wait;
}

TEST(Attempts, AFewFailuresCostNothing) {
  Attempts attempts;
  for (unsigned i = 0; i < Attempts::free_failures; ++i) {
    EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", start), milliseconds(0));
    attempts.failed("1.2.3.4", "bob", start);
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
    attempts.failed("1.2.3.4", "role" + std::to_string(i), now);
  }
  EXPECT_EQ(last, Attempts::longest_address_delay);
}

TEST(Attempts, AtOnceTheyGoOneByOneAndTheRestIsRefused) {
  Attempts attempts;
  for (int i = 0; i < 20; ++i) attempts.failed("1.2.3.4", "", start);
  milliseconds last(0);
  int admitted = 0;
  while (const auto wait = wait_before(attempts, "1.2.3.4", "bob", start)) {
    EXPECT_GT(*wait, last);
    last = *wait;
    ASSERT_LT(++admitted, 100);
  }
  EXPECT_LE(last, Attempts::longest_wait);
  EXPECT_EQ(admitted, Attempts::longest_wait / Attempts::longest_address_delay);
}

TEST(Attempts, ThoseThatCameAtOnceAreFoundOut) {
  Attempts attempts;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", start), milliseconds(0));
  EXPECT_FALSE(attempts.is_slowed("1.2.3.4", "bob", start));
  for (unsigned i = 0; i <= Attempts::free_failures; ++i) attempts.failed("1.2.3.4", "bob", start);
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "bob", start));
  EXPECT_FALSE(attempts.is_slowed("5.6.7.8", "bob", start));
}

TEST(Attempts, OthersDoNotWait) {
  Attempts attempts;
  for (int i = 0; i < 50; ++i) attempts.failed("1.2.3.4", "bob", start);
  EXPECT_EQ(wait_before(attempts, "5.6.7.8", "alice", start), milliseconds(0));
}

TEST(Attempts, NobodyIsLockedOutOfHisRole) {
  Attempts attempts;
  for (int i = 0; i < 1000; ++i) attempts.failed("10.0.0." + std::to_string(i % 250), "bob", start);
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(wait_before(attempts, "5.6.7.8", "bob", start).value(), Attempts::longest_role_delay);
  attempts.succeeded("5.6.7.8", "bob", start);
  EXPECT_EQ(wait_before(attempts, "5.6.7.8", "bob", start), milliseconds(0));
}

TEST(Attempts, ASuccessDoesNotForgiveTheAddress) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.failed("1.2.3.4", "bob", start);
  attempts.succeeded("1.2.3.4", "mallory", start);
  EXPECT_GT(wait_before(attempts, "1.2.3.4", "alice", start).value(), milliseconds(0));
}

// Who waits for the role's sake has not stood in the address's line, and is asked for it when the wait is
// over.
TEST(Attempts, ARolesDelayIsNotTheAddressesTurn) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.failed("10.0.0." + std::to_string(i), "bob", start);
  const auto turn = attempts.take_turn("5.6.7.8", "bob", start);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->wait, Attempts::longest_role_delay);
  EXPECT_FALSE(turn->by_address);
  for (int i = 0; i < 10; ++i) attempts.failed("5.6.7.8", "alice", start);
  EXPECT_TRUE(attempts.is_slowed("5.6.7.8", "bob", start));
  EXPECT_TRUE(attempts.take_turn("5.6.7.8", "bob", start)->by_address);
}

TEST(Attempts, WhoeverLoggedInLatelyIsNotLockedOutByANeighbour) {
  Attempts attempts;
  attempts.succeeded("1.2.3.4", "bob", start);
  for (int i = 0; i < 50; ++i) attempts.failed("1.2.3.4", "mallory", start);
  while (attempts.take_turn("1.2.3.4", "mallory", start)) {
  }
  EXPECT_EQ(attempts.take_turn("1.2.3.4", "bob", start), Attempts::Turn());
  EXPECT_FALSE(attempts.is_slowed("1.2.3.4", "bob", start));
  // Roles that have not, and the same one elsewhere, are in line.
  EXPECT_FALSE(attempts.take_turn("1.2.3.4", "alice", start));
  for (int i = 0; i < 50; ++i) attempts.failed("5.6.7.8", "mallory", start);
  EXPECT_TRUE(attempts.is_slowed("5.6.7.8", "bob", start));
  const auto later = start + Attempts::known_for;
  for (int i = 0; i < 50; ++i) attempts.failed("1.2.3.4", "mallory", later);
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "bob", later));
}

TEST(Attempts, ThatIsOverWhenItFailsItselfAndASuccessDoesNotBringItBackAtOnce) {
  Attempts attempts;
  attempts.succeeded("1.2.3.4", "bob", start);
  for (int i = 0; i < 50; ++i) attempts.failed("1.2.3.4", "mallory", start);
  for (unsigned i = 0; i < Attempts::free_failures; ++i) {
    EXPECT_FALSE(attempts.is_slowed("1.2.3.4", "bob", start));
    attempts.failed("1.2.3.4", "bob", start);
  }
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "bob", start));
  attempts.succeeded("1.2.3.4", "bob", start);
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "bob", start));
  const auto later = start + Attempts::forgotten_after;
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "mallory", later));
  EXPECT_FALSE(attempts.is_slowed("1.2.3.4", "bob", later));
}

TEST(Attempts, ANetworkOfIPv6CountsAsOneAddress) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i)
    attempts.failed("2001:db8:0:1::" + std::to_string(i), "role" + std::to_string(i), start);
  EXPECT_TRUE(attempts.is_slowed("2001:db8:0:1::ffff", "bob", start));
  EXPECT_FALSE(attempts.is_slowed("2001:db8:0:2::1", "bob", start));
  for (int i = 0; i < 10; ++i) attempts.failed("::ffff:1.2.3.4", "role" + std::to_string(i), start);
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", "bob", start));
}

TEST(Attempts, TimeForgives) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.failed("1.2.3.4", "bob", start);
  const auto later = start + 100 * Attempts::forgotten_after;
  EXPECT_EQ(wait_before(attempts, "1.2.3.4", "bob", later), milliseconds(0));
}

// Names that come once do not push out an address that fails again and again.
TEST(Attempts, AFloodOfNamesDoesNotHideAnAddress) {
  Attempts attempts(64);
  for (int i = 0; i < 10'000; ++i) attempts.failed("1.2.3.4", "role" + std::to_string(i), start);
  EXPECT_TRUE(!wait_before(attempts, "1.2.3.4", "bob", start) ||
              wait_before(attempts, "1.2.3.4", "bob", start) > milliseconds(0));
}

}  // namespace
}  // namespace sibyl::auth
