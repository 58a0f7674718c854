#include "cli/session/statement_error.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

using base::Error;
using base::ErrorCode;

TEST(ShellError, ParsesTheServersText) {
  const Error error = error_from_text(ErrorCode::syntax, "line 2:7 no viable alternative [hint: write FROM]");
  EXPECT_EQ(error.message(), "line 2:7 no viable alternative");
  EXPECT_EQ(error.hint(), "write FROM");
  ASSERT_TRUE(error.position());
  EXPECT_EQ(error.position()->line, 2u);
  EXPECT_EQ(error.position()->column, 7u);
}

TEST(ShellError, ParsesThePositionBehindTheText) {
  const Error error = error_from_text(ErrorCode::invalid, "Undefined column [hint: try b] [position: 2:7]");
  EXPECT_EQ(error.message(), "Undefined column");
  EXPECT_EQ(error.hint(), "try b");
  ASSERT_TRUE(error.position());
  EXPECT_EQ(error.position()->line, 2u);
  EXPECT_EQ(error.position()->column, 7u);
  EXPECT_EQ(error_from_text(ErrorCode::invalid, "no [position: x]").message(), "no [position: x]");
}

TEST(ShellError, TextWithoutPositionOrHintStays) {
  const Error error = error_from_text(ErrorCode::invalid, "unconfigured table line 1:2]");
  EXPECT_EQ(error.message(), "unconfigured table line 1:2]");
  EXPECT_EQ(error.hint(), "");
  EXPECT_FALSE(error.position());
  EXPECT_FALSE(error_from_text(ErrorCode::syntax, "line x:1").position());
  EXPECT_FALSE(error_from_text(ErrorCode::syntax, "line 1").position());
}

TEST(ShellError, CaretStandsUnderThePosition) {
  const Error error = error_from_text(ErrorCode::syntax, "line 1:9 mismatched input 'FORM' expecting K_FROM");
  EXPECT_EQ(render_caret(error, "SELECT * FORM users"), "  SELECT * FORM users\n           ^\n");
}

TEST(ShellError, CaretFindsTheLine) {
  const Error error = error_from_text(ErrorCode::syntax, "line 2:2 no");
  EXPECT_EQ(render_caret(error, "SELECT *\r\n  FORM users\nWHERE x = 1"), "    FORM users\n    ^\n");
}

TEST(ShellError, CaretCountsColumnsOfTheTerminal) {
  // The emoji is two UTF-16 units and two columns, the accent a unit and no column, the tab one of each.
  const Error error = error_from_text(ErrorCode::syntax, "line 1:9 no");
  EXPECT_EQ(render_caret(error, "'🎬e\u0301東\t' x"), "  '🎬e\u0301東 ' x\n           ^\n");
}

TEST(ShellError, AnErrorAtTheEndPointsBehindTheText) {
  const Error error = error_from_text(ErrorCode::syntax, "line 0:-1 no viable alternative at input '<EOF>'");
  EXPECT_EQ(render_caret(error, "SELECT *\nFROM \n"), "  FROM\n      ^\n");
}

TEST(ShellError, PositionsOutsideOfTheTextShowNoCaret) {
  EXPECT_EQ(render_caret(error_from_text(ErrorCode::syntax, "line 9:0 no"), "SELECT"), "");
  EXPECT_EQ(render_caret(error_from_text(ErrorCode::syntax, "line 1:99 no"), "SELECT"),
            "  SELECT\n        ^\n");
}

TEST(ShellError, LongLinesAreCutAroundTheCaret) {
  const std::string statement = std::string(1000, 'x') + " FORM " + std::string(1000, 'y');
  const std::string text = render_caret(error_from_text(ErrorCode::syntax, "line 1:1001 no"), statement);
  EXPECT_LT(text.size(), 400u);
  const size_t caret = text.size() - 2;
  ASSERT_EQ(text[caret], '^');
  const size_t line_start = text.find('\n') + 1;
  EXPECT_EQ(text.substr(caret - line_start, 4), "FORM");
}

TEST(ShellError, MessageAndHintFollow) {
  const Error error = error_from_text(ErrorCode::invalid, "unconfigured table t [hint: CREATE TABLE t]");
  EXPECT_EQ(render_error(error, "SELECT * FROM t", "a.cql:3: ", Palette(false)),
            "a.cql:3: InvalidRequest: unconfigured table t\nHint: CREATE TABLE t\n");
}

}  // namespace
}  // namespace sibyl::cli::shell
