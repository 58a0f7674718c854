#include "cql/lexer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

namespace sibyl::cql {
namespace {

using Kind = TokenKind;

std::vector<std::pair<Kind, std::string>> lex(std::string_view text) {
  std::vector<std::pair<Kind, std::string>> result;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != Kind::end; token = lexer.next()) {
    result.emplace_back(token.kind, std::string(lexer.raw(token)));
  }
  return result;
}

Kind only_kind(std::string_view text) {
  const auto tokens = lex(text);
  EXPECT_EQ(tokens.size(), 1u) << text;
  return tokens.empty() ? Kind::end : tokens[0].first;
}

TEST(Lexer, RecognisesEveryKeywordInAnyCase) {
  EXPECT_EQ(only_kind("SELECT"), Kind::kw_select);
  EXPECT_EQ(only_kind("sElEcT"), Kind::kw_select);
  EXPECT_EQ(only_kind("select_masked"), Kind::kw_select_masked);
  EXPECT_EQ(only_kind("table"), Kind::kw_columnfamily);
  EXPECT_EQ(only_kind("columnfamilies"), Kind::kw_tables);
  EXPECT_EQ(only_kind("TRUE"), Kind::boolean);
  EXPECT_EQ(only_kind("selects"), Kind::identifier);
  EXPECT_EQ(only_kind("x"), Kind::identifier);
  EXPECT_EQ(only_kind("a_very_long_identifier_indeed_1234567890"), Kind::identifier);
}

TEST(Lexer, Numbers) {
  EXPECT_EQ(only_kind("12"), Kind::integer);
  EXPECT_EQ(only_kind("-12"), Kind::integer);
  EXPECT_EQ(only_kind("1.5"), Kind::floating);
  EXPECT_EQ(only_kind("1."), Kind::floating);
  EXPECT_EQ(only_kind("-1.5E+10"), Kind::floating);
  EXPECT_EQ(only_kind("1e5"), Kind::floating);
  EXPECT_EQ(only_kind("-NaN"), Kind::floating);
  EXPECT_EQ(only_kind("-infinity"), Kind::floating);
  EXPECT_EQ(only_kind("NaN"), Kind::kw_positive_nan);
  EXPECT_EQ(only_kind("0xCAFE"), Kind::blob);
  EXPECT_EQ(only_kind("0x"), Kind::blob);
  const std::vector<std::pair<Kind, std::string>> slice = {
      {Kind::integer, "1"}, {Kind::range, ".."}, {Kind::integer, "2"}};
  EXPECT_EQ(lex("1..2"), slice);
  const std::vector<std::pair<Kind, std::string>> three_dots = {
      {Kind::floating, "1."}, {Kind::range, ".."}, {Kind::integer, "2"}};
  EXPECT_EQ(lex("1...2"), three_dots);
}

TEST(Lexer, UuidsAndDurations) {
  EXPECT_EQ(only_kind("123e4567-e89b-12d3-a456-426614174000"), Kind::uuid);
  EXPECT_EQ(only_kind("ABCDEFAB-e89b-12d3-a456-426614174000"), Kind::uuid);
  EXPECT_EQ(only_kind("1y2mo3w4d5h6m7s8ms9us10ns"), Kind::duration);
  EXPECT_EQ(only_kind("-1H"), Kind::duration);
  EXPECT_EQ(only_kind("5µs"), Kind::duration);
  EXPECT_EQ(only_kind("P1Y2M3DT4H5M6S"), Kind::duration);
  EXPECT_EQ(only_kind("PT5M"), Kind::duration);
  EXPECT_EQ(only_kind("P3W"), Kind::duration);
  EXPECT_EQ(only_kind("-P0001-02-03T04:05:06"), Kind::duration);
  EXPECT_EQ(only_kind("P1YX"), Kind::identifier);
  EXPECT_EQ(only_kind("PT"), Kind::identifier);
  EXPECT_EQ(only_kind("p1y"), Kind::identifier);
}

TEST(Lexer, StringsNamesAndComments) {
  Lexer lexer("'it''s' $$it's$$ \"a\"\"b\" \"\" -- x\n // y\r /* z ' */ 'end'-- no line end");
  const Token plain = lexer.next();
  EXPECT_EQ(token_text(lexer.text(), plain), "it's");
  const Token dollar = lexer.next();
  EXPECT_EQ(dollar.kind, Kind::string);
  EXPECT_EQ(token_text(lexer.text(), dollar), "it's");
  const Token name = lexer.next();
  EXPECT_EQ(name.kind, Kind::quoted_name);
  EXPECT_EQ(token_text(lexer.text(), name), "a\"b");
  EXPECT_EQ(lexer.next().kind, Kind::empty_quoted_name);
  EXPECT_EQ(token_text(lexer.text(), lexer.next()), "end");
  EXPECT_EQ(lexer.next().kind, Kind::end);
  EXPECT_EQ(lexer.next().kind, Kind::end);
}

TEST(Lexer, CountsLinesFromOneAndColumnsInUtf16Units) {
  Lexer lexer("'é😀' a\n  'x\ny' b");
  lexer.next();
  const Token a = lexer.next();
  EXPECT_EQ(a.line, 1u);
  EXPECT_EQ(a.column, 6u);  // two quotes, é, the two halves of the emoji, a space
  EXPECT_EQ(a.offset, 9u);
  EXPECT_EQ(lexer.next().column, 2u);
  const Token b = lexer.next();
  EXPECT_EQ(b.line, 3u);
  EXPECT_EQ(b.column, 3u);
}

TEST(Lexer, ReportsWhyItStopped) {
  const auto problem = [](std::string_view text) {
    Lexer lexer(text);
    while (true) {
      const Token token = lexer.next();
      if (token.kind == Kind::error) return lexer.error().message;
      if (token.kind == Kind::end) return std::string("none");
    }
  };
  EXPECT_EQ(problem("a @"), "no viable alternative at character '@'");
  EXPECT_EQ(problem("é"), "no viable alternative at character 'é'");
  EXPECT_EQ(problem("'a"), "mismatched character '<EOF>' expecting '''");
  EXPECT_EQ(problem("\"a"), "mismatched character '<EOF>' expecting '\"'");
  EXPECT_EQ(problem("/* a"), "mismatched character '<EOF>' expecting '*'");
  EXPECT_EQ(problem("$$a"), "mismatched character 'a' expecting '$'");
  EXPECT_EQ(problem("1e "), "no viable alternative at character ' '");
  EXPECT_EQ(problem("5abc"), "mismatched character '<EOF>' expecting set null");
}

RC_GTEST_PROP(Lexer, CoversAnyBytesWithoutGapsOrOverlap, (const std::string& text)) {
  Lexer lexer(text);
  uint32_t end = 0;
  for (Token token = lexer.next_raw(); token.kind != Kind::end; token = lexer.next_raw()) {
    RC_ASSERT(token.offset == end);
    RC_ASSERT(token.length > 0u);
    end = token.offset + token.length;
  }
  RC_ASSERT(end == text.size());
}

}  // namespace
}  // namespace sibyl::cql
