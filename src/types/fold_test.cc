#include "types/fold.h"

#include <gtest/gtest.h>

namespace sibyl::types {
namespace {

TEST(Fold, Case) {
  EXPECT_EQ(lower_case("Hello"), "hello");
  EXPECT_EQ(lower_case("ÉCOLE"), "école");
  EXPECT_EQ(upper_case("straße"), "STRASSE");
  EXPECT_EQ(upper_case("a1"), "A1");
  EXPECT_EQ(lower_case(""), "");
}

TEST(Fold, Composition) {
  EXPECT_EQ(compose("e\u0301"), "é");
  EXPECT_EQ(compose("é"), "é");
  EXPECT_EQ(compose("plain"), "plain");
}

TEST(Fold, Ascii) {
  EXPECT_EQ(fold_to_ascii("café Ærø ß"), "cafe AEro ss");
  EXPECT_EQ(fold_to_ascii("日本"), "日本");
}

}  // namespace
}  // namespace sibyl::types
