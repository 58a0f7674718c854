#include "cli/shell/script.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

std::vector<std::string> texts(std::string_view script) {
  std::vector<std::string> result;
  for (const Statement& statement : split_statements(script))
    result.push_back(statement.complete ? statement.text : statement.text + " (more)");
  return result;
}
using Texts = std::vector<std::string>;

TEST(ShellScript, StatementsEndWithSemicolons) {
  EXPECT_EQ(texts("SELECT 1; SELECT\n2;"), (Texts{"SELECT 1", "SELECT\n2"}));
  EXPECT_EQ(texts("SELECT"), (Texts{"SELECT (more)"}));
  EXPECT_EQ(texts(" \n -- nothing\n; ;"), Texts{});
  EXPECT_EQ(texts("INSERT INTO t (a) VALUES ('x;\n"), (Texts{"INSERT INTO t (a) VALUES ('x; (more)"}));
}

TEST(ShellScript, PasswordsOfLogin) {
  EXPECT_TRUE(contains_password("login bob secret"));
  EXPECT_TRUE(contains_password("SELECT 1; LOGIN bob 'secret';"));
  EXPECT_FALSE(contains_password("LOGIN bob"));
  EXPECT_FALSE(contains_password("SELECT login, password FROM t;"));
}

TEST(ShellScript, BatchesStayWhole) {
  EXPECT_EQ(texts("BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH; SELECT 1;"),
            (Texts{"BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH", "SELECT 1"}));
}

TEST(ShellScript, CommandsEndWithTheirLine) {
  EXPECT_EQ(texts("desc tables\nSELECT 1;"), (Texts{"desc tables", "SELECT 1"}));
  EXPECT_EQ(texts("expand on; SELECT 1;\nexit"), (Texts{"expand on", "SELECT 1", "exit"}));
  EXPECT_EQ(texts("SOURCE 'a;b.cql'\n"), (Texts{"SOURCE 'a;b.cql'"}));
  EXPECT_EQ(texts("HELP don't\nSELECT 1;"), (Texts{"HELP don't", "SELECT 1"}));
}

TEST(ShellScript, OffsetsLeadBackToTheScript) {
  const std::string script = "-- first\nSELECT 1;\n/* two */ DESC t\n\n  USE k;";
  const std::vector<Statement> statements = split_statements(script);
  ASSERT_EQ(statements.size(), 3u);
  for (const Statement& statement : statements)
    EXPECT_EQ(script.substr(statement.offset, statement.text.size()), statement.text);
  EXPECT_EQ(script[statements[0].end], '\n');
  EXPECT_EQ(script.substr(statements[1].end), "\n  USE k;");
  EXPECT_EQ(statements[2].end, script.size());
}

TEST(ShellScript, AnUnclosedCommentNeedsMoreInput) {
  const std::vector<Statement> statements = split_statements("/* SELECT 1;\n");
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_FALSE(statements[0].complete);
}

TEST(ShellScript, CommandsAreUnderstoodInAnyCase) {
  const auto source = parse_command("source 'it''s here.cql';");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->kind, Command::Kind::source);
  EXPECT_EQ(source->arguments, (Texts{"it's here.cql"}));
  const auto serial = parse_command("Serial Consistency LOCAL_SERIAL");
  ASSERT_TRUE(serial);
  EXPECT_EQ(serial->kind, Command::Kind::serial);
  EXPECT_EQ(serial->arguments, (Texts{"Consistency", "LOCAL_SERIAL"}));
  EXPECT_EQ(parse_command("?")->kind, Command::Kind::help);
  EXPECT_EQ(parse_command("desc t")->name, "DESCRIBE");
  EXPECT_FALSE(parse_command("SELECT 1"));
  EXPECT_FALSE(parse_command("exits"));
  EXPECT_FALSE(parse_command(""));
}

TEST(ShellScript, TableNames) {
  const auto plain = parse_table_name("Films.movies");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->keyspace, "films");
  EXPECT_EQ(plain->table, "movies");
  const auto quoted = parse_table_name("\"Fi\"\"lms\".\"a.b\"");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->keyspace, "Fi\"lms");
  EXPECT_EQ(quoted->table, "a.b");
  for (const char* wrong : {"", "movies", "films.", ".movies", "a.b.c", "a b.c", "\"a.b", "\"a\".\"b"})
    EXPECT_FALSE(parse_table_name(wrong)) << wrong;
}

}  // namespace
}  // namespace sibyl::cli::shell
