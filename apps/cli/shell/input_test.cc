#include "cli/shell/input.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

TEST(ShellInput, StatementsAreKeptOnOneLine) {
  EXPECT_EQ(join_lines("SELECT *\n  FROM t\n\n;\n"), "SELECT * FROM t ;");
  EXPECT_EQ(join_lines("INSERT INTO t (a) VALUES ('two  spaces');\n"),
            "INSERT INTO t (a) VALUES ('two  spaces');");
}

TEST(ShellInput, LinesStayWhereJoiningWouldChangeTheMeaning) {
  EXPECT_EQ(join_lines("SELECT * -- all\nFROM t;"), "SELECT * -- all\nFROM t;");
  EXPECT_EQ(join_lines("INSERT INTO t (a) VALUES ('x\ny');"), "INSERT INTO t (a) VALUES ('x\ny');");
  EXPECT_EQ(join_lines("SELECT '--'\nFROM t;"), "SELECT '--' FROM t;");
}

}  // namespace
}  // namespace sibyl::cli::shell
