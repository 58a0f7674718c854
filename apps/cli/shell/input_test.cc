#include "cli/shell/input.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

TEST(ShellInput, StatementsAreKeptOnOneLine) {
  EXPECT_EQ(join_lines("SELECT *\n  FROM t\n\n;\n"), "SELECT * FROM t ;");
  EXPECT_EQ(join_lines("INSERT INTO t (a) VALUES ('two  spaces');\n"),
            "INSERT INTO t (a) VALUES ('two  spaces');");
}

TEST(ShellInput, CommentsStayInTheLine) {
  EXPECT_EQ(join_lines("SELECT * -- all\nFROM t; // end"), "SELECT * /* all*/ FROM t; /* end*/");
  EXPECT_EQ(join_lines("SELECT /* a\n b */ * FROM t;"), "SELECT /* a  b */ * FROM t;");
  EXPECT_EQ(join_lines("SELECT * -- */ odd\nFROM t;"), "SELECT * /* * / odd*/ FROM t;");
  EXPECT_EQ(join_lines("SELECT /*"), "SELECT /**/");
}

TEST(ShellInput, LinesStayWhereJoiningWouldChangeTheMeaning) {
  EXPECT_EQ(join_lines("INSERT INTO t (a) VALUES ('x\ny');"), "INSERT INTO t (a) VALUES ('x\ny');");
  EXPECT_EQ(join_lines("SELECT '--'\nFROM t;"), "SELECT '--' FROM t;");
}

}  // namespace
}  // namespace sibyl::cli::shell
