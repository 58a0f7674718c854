#include "base/ascii.h"

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

TEST(Ascii, FoldsLettersAndLeavesOtherBytes) {
  EXPECT_EQ(ascii_lower("AZ az @[`{ 09 \xc3\x84"), "az az @[`{ 09 \xc3\x84");
  EXPECT_EQ(ascii_upper("AZ az @[`{ 09 \xc3\xa4"), "AZ AZ @[`{ 09 \xc3\xa4");
}

TEST(Ascii, ComparesIgnoringCase) {
  EXPECT_TRUE(equal_ignoring_case("Select", "sELECT"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("select", "selec"));
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
  EXPECT_FALSE(equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
}

TEST(Ascii, FindsPrefixesIgnoringCase) {
  EXPECT_TRUE(starts_with_ignoring_case("SELECT *", "select"));
  EXPECT_TRUE(starts_with_ignoring_case("x", ""));
  EXPECT_FALSE(starts_with_ignoring_case("sel", "select"));
}

}  // namespace
}  // namespace sibyl::base
