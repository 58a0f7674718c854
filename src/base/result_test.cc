#include "base/result.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace sibyl::base {
namespace {

Result<int> positive(int value) {
  if (value <= 0) return invalid("not positive");
  return value;
}

Status check_both(int a, int b) {
  SIBYL_TRY(positive(a));
  SIBYL_TRY(positive(b));
  return {};
}

Result<int> sum(int a, int b) {
  SIBYL_ASSIGN(const int left, positive(a));
  int right = 0;
  SIBYL_ASSIGN(right, positive(b));
  return left + right;
}

TEST(Result, CarriesValuesAndErrors) {
  EXPECT_EQ(sum(1, 2).value(), 3);
  EXPECT_EQ(sum(1, 0).error().message(), "not positive");
  EXPECT_EQ(sum(0, 1).error().code(), ErrorCode::invalid);
  EXPECT_TRUE(check_both(1, 1).has_value());
  EXPECT_FALSE(check_both(1, -1).has_value());
}

TEST(Error, HintsAndPositionsMakeCopies) {
  const Error plain(ErrorCode::syntax, "line 1:0 no viable alternative");
  const Error hinted = plain.with_hint("write 'x'").at({1, 4, 4});
  EXPECT_TRUE(plain.hint().empty());
  EXPECT_FALSE(plain.position().has_value());
  EXPECT_EQ(plain.text(), "line 1:0 no viable alternative");
  EXPECT_EQ(hinted.text(), "line 1:0 no viable alternative [hint: write 'x']");
  EXPECT_EQ(hinted.position()->column, 4u);
  EXPECT_EQ(hinted.code(), ErrorCode::syntax);
}

TEST(Error, CodesAreTheProtocols) {
  EXPECT_EQ(static_cast<int>(ErrorCode::unprepared), 0x2500);
  EXPECT_EQ(static_cast<int>(ErrorCode::overloaded), 0x1001);
}

TEST(CheckDeathTest, AbortsTheProcess) {
  SIBYL_CHECK(1 + 1 == 2);
  EXPECT_DEATH(SIBYL_CHECK(1 + 1 == 3), "internal check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace sibyl::base
