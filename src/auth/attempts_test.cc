#include "auth/attempts.h"

#include <gtest/gtest.h>

#include <string>

namespace sibyl::auth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Attempts::Clock::time_point start = Attempts::Clock::time_point() + seconds(1000);

TEST(Attempts, AFewFailuresCostNothing) {
  Attempts attempts;
  for (unsigned i = 0; i < Attempts::free_failures; ++i) {
    EXPECT_EQ(attempts.wait_before("1.2.3.4", "bob", start), milliseconds(0));
    attempts.failed("1.2.3.4", "bob", start);
  }
  EXPECT_EQ(attempts.wait_before("1.2.3.4", "bob", start), milliseconds(0));
}

TEST(Attempts, FurtherFailuresFromAnAddressWaitLongerEach) {
  Attempts attempts;
  auto now = start;
  milliseconds last(0);
  for (int i = 0; i < 20; ++i) {
    const auto wait = attempts.wait_before("1.2.3.4", "role" + std::to_string(i), now);
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
  while (const auto wait = attempts.wait_before("1.2.3.4", "bob", start)) {
    EXPECT_GT(*wait, last);
    last = *wait;
    ASSERT_LT(++admitted, 100);
  }
  EXPECT_LE(last, Attempts::longest_wait);
  EXPECT_EQ(admitted, Attempts::longest_wait / Attempts::longest_address_delay);
}

TEST(Attempts, ThoseThatCameAtOnceAreFoundOut) {
  Attempts attempts;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(attempts.wait_before("1.2.3.4", "bob", start), milliseconds(0));
  EXPECT_FALSE(attempts.is_slowed("1.2.3.4", start));
  for (unsigned i = 0; i <= Attempts::free_failures; ++i) attempts.failed("1.2.3.4", "bob", start);
  EXPECT_TRUE(attempts.is_slowed("1.2.3.4", start));
  EXPECT_FALSE(attempts.is_slowed("5.6.7.8", start));
}

TEST(Attempts, OthersDoNotWait) {
  Attempts attempts;
  for (int i = 0; i < 50; ++i) attempts.failed("1.2.3.4", "bob", start);
  EXPECT_EQ(attempts.wait_before("5.6.7.8", "alice", start), milliseconds(0));
}

TEST(Attempts, NobodyIsLockedOutOfHisRole) {
  Attempts attempts;
  for (int i = 0; i < 1000; ++i) attempts.failed("10.0.0." + std::to_string(i % 250), "bob", start);
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(attempts.wait_before("5.6.7.8", "bob", start).value(), Attempts::longest_role_delay);
  attempts.succeeded("bob");
  EXPECT_EQ(attempts.wait_before("5.6.7.8", "bob", start), milliseconds(0));
}

TEST(Attempts, ASuccessDoesNotForgiveTheAddress) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.failed("1.2.3.4", "bob", start);
  attempts.succeeded("mallory");
  EXPECT_GT(attempts.wait_before("1.2.3.4", "alice", start).value(), milliseconds(0));
}

TEST(Attempts, TimeForgives) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) attempts.failed("1.2.3.4", "bob", start);
  const auto later = start + 100 * Attempts::forgotten_after;
  EXPECT_EQ(attempts.wait_before("1.2.3.4", "bob", later), milliseconds(0));
}

// Names that come once do not push out an address that fails again and again.
TEST(Attempts, AFloodOfNamesDoesNotHideAnAddress) {
  Attempts attempts(64);
  for (int i = 0; i < 10'000; ++i) attempts.failed("1.2.3.4", "role" + std::to_string(i), start);
  EXPECT_TRUE(!attempts.wait_before("1.2.3.4", "bob", start) ||
              attempts.wait_before("1.2.3.4", "bob", start) > milliseconds(0));
}

}  // namespace
}  // namespace sibyl::auth
