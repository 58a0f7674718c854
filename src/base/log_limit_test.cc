#include "base/log_limit.h"

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

using std::chrono::milliseconds;

TEST(LogLimit, AdmitsTheConfiguredLinesPerSecond) {
  for (const uint64_t per_second : {1u, 3u}) {
    LogLimit limit(per_second);
    const auto now = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < per_second; ++i) EXPECT_EQ(limit.admit(now), 0u);
    EXPECT_FALSE(limit.admit(now));
    EXPECT_FALSE(limit.admit(now + milliseconds(999)));
    EXPECT_EQ(limit.admit(now + milliseconds(1000)), 2u);
  }
}

TEST(LogLimit, TheNoteIsEmptyIfNothingWasSuppressed) {
  EXPECT_EQ(suppressed_note(0), "");
  EXPECT_EQ(suppressed_note(3), " (3 more not logged)");
}

}  // namespace
}  // namespace sibyl::base
