#include "cli/command_line/text.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

using types::Kind;

TEST(ShellText, WidthIsTheNumberOfTerminalColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("Viola"), 5u);
  EXPECT_EQ(display_width("Düsseldorf"), 10u);
  EXPECT_EQ(display_width("東京"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // e and a combining acute accent
  EXPECT_EQ(display_width("ｱ"), 1u);        // half-width katakana
  EXPECT_EQ(display_width("Ａ"), 2u);       // full-width A
  EXPECT_EQ(display_width("한국"), 4u);
  EXPECT_EQ(display_width("\u1112\u1161"), 2u);  // the same syllable in two jamo
  EXPECT_EQ(display_width("🎬"), 2u);
  EXPECT_EQ(display_width("\u200b"), 0u);
}

TEST(ShellText, ControlCharactersAreEscaped) {
  EXPECT_EQ(escape_controls("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(escape_controls("\033[2J"), "\\x1b[2J");
  EXPECT_EQ(escape_controls("\u009b2J"), "\\x9b2J");
  EXPECT_EQ(escape_controls("abc\u202etxt"), "abc\\u202etxt");
  EXPECT_EQ(escape_controls("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(escape_controls("plain ünïcode 東"), "plain ünïcode 東");
}

TEST(ShellText, WithoutColoursNothingIsAdded) {
  const Palette plain(false);
  EXPECT_EQ(plain.paint(Colour::red, "null"), "null");
  EXPECT_EQ(paint_value(plain, *types::scalar(Kind::int_), "1"), "1");
}

TEST(ShellText, ValuesHaveCqlshsColours) {
  const Palette palette(true);
  EXPECT_EQ(paint_value(palette, *types::scalar(Kind::int_), "1"), "\033[0;1;32m1\033[0m");
  EXPECT_EQ(paint_value(palette, *types::scalar(Kind::text), "a"), "\033[0;1;33ma\033[0m");
  EXPECT_EQ(paint_value(palette, *types::scalar(Kind::blob), "0xff"), "\033[0;35m0xff\033[0m");
  EXPECT_EQ(paint_value(palette, *types::scalar(Kind::text), "a\\nb"),
            "\033[0;1;33ma\033[0m\033[0;35m\\n\033[0m\033[0;1;33mb\033[0m");
}

TEST(ShellText, PartsOfCollectionsHaveTheirOwnColours) {
  const Palette palette(true);
  const types::TypePtr type = types::map_of(types::scalar(Kind::text), types::scalar(Kind::int_), false);
  EXPECT_EQ(paint_value(palette, *type, "{'a': 1}"),
            "\033[0;1;34m{\033[0m\033[0;1;33m'a'\033[0m\033[0;1;34m: "
            "\033[0m\033[0;1;32m1\033[0m\033[0;1;34m}\033[0m");
}

TEST(ShellText, NamesFillColumnsDownwards) {
  EXPECT_EQ(in_columns({}, 80), "");
  EXPECT_EQ(in_columns({"a", "b", "c"}, 80), "a  b  c\n");
  EXPECT_EQ(in_columns({"aaaa", "b", "cc", "d"}, 10), "aaaa  cc\nb     d\n");
  EXPECT_EQ(in_columns({"aaaaaaaaaaaa", "b"}, 5), "aaaaaaaaaaaa\nb\n");
}

TEST(ShellText, PaddingCountsColumns) {
  EXPECT_EQ(pad_left("東", display_width("東"), 4), "  東");
  EXPECT_EQ(pad_right("ab", 2, 4), "ab  ");
  EXPECT_EQ(pad_left("abcd", 4, 2), "abcd");
}

}  // namespace
}  // namespace sibyl::cli::shell
