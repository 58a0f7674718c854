#include "types/text.h"

#include <gtest/gtest.h>

#include <string>

namespace sibyl::types {
namespace {

TEST(Utf8, AcceptsWellFormedAndRefusesTheRest) {
  for (const std::string_view good :
       {"", "plain text that is longer", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "12345678\xc3\xa4",
        "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const std::string_view bad :
       {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "12345678\x80", "1234567\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << base::to_hex(bad);
}

TEST(Utf8, ReportsTheOffsetOfTheError) {
  EXPECT_EQ(find_invalid_utf8("plain ascii, longer than eight bytes"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("é日😀"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("abcdefgh\xff"), 8u);
  EXPECT_EQ(find_invalid_utf8("a\xc0\x80"), 1u);          // overlong
  EXPECT_EQ(find_invalid_utf8("a\xed\xa0\x80"), 1u);      // this is half a surrogate pair
  EXPECT_EQ(find_invalid_utf8("a\xf4\x90\x80\x80"), 1u);  // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("a\xf0\x9f\x98"), 1u);      // cut off
}

TEST(Characters, AreCountedAndNotSplit) {
  EXPECT_EQ(count_characters(""), 0u);
  EXPECT_EQ(count_characters("aé日😀"), 4u);
  const std::string_view text = "aé日";  // 1, 2 and 3 bytes
  EXPECT_EQ(whole_characters(text, 0), "");
  EXPECT_EQ(whole_characters(text, 1), "a");
  EXPECT_EQ(whole_characters(text, 2), "a");
  EXPECT_EQ(whole_characters(text, 3), "aé");
  EXPECT_EQ(whole_characters(text, 5), "aé");
  EXPECT_EQ(whole_characters(text, 6), text);
  EXPECT_EQ(whole_characters(text, 100), text);
  EXPECT_EQ(next_character(text, 0), 0u);
  EXPECT_EQ(next_character(text, 2), 3u);
  EXPECT_EQ(next_character(text, 4), 6u);
  EXPECT_EQ(next_character(text, 6), 6u);
}

}  // namespace
}  // namespace sibyl::types
