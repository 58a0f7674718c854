#include "cli/shell/result.h"

#include <gtest/gtest.h>

#include "types/elements.h"
#include "types/value.h"

namespace sibyl::cli::shell {
namespace {

using types::Kind;

StatementResult users() {
  StatementResult result;
  result.kind = StatementResult::Kind::rows;
  result.columns = {{"k", "users", "name", types::scalar(Kind::text)},
                    {"k", "users", "age", types::scalar(Kind::int_)}};
  result.rows = {{"Nicholas", types::encode_int32(20)}, {"東京", std::nullopt}};
  return result;
}

std::string render(Format format, const StatementResult& result) {
  const Palette plain(false);
  const SchemaNames names;
  ResultPrinter printer(format, plain, names);
  std::string text = printer.page(result, true);
  return text + printer.end();
}

TEST(ShellResult, TableIsCqlshs) {
  EXPECT_EQ(render(Format::table, users()),
            "\n name     | age\n----------+------\n Nicholas |   20\n     東京 | null\n\n(2 rows)\n");
}

TEST(ShellResult, NoRowsStillHaveAHeader) {
  StatementResult result = users();
  result.rows.clear();
  EXPECT_EQ(render(Format::table, result), "\n name | age\n------+-----\n\n(0 rows)\n");
  EXPECT_EQ(render(Format::expanded, result), "\n(0 rows)\n");
}

TEST(ShellResult, Expanded) {
  EXPECT_EQ(render(Format::expanded, users()),
            "\n@ Row 1\n------+----------\n name | Nicholas\n age  | 20\n\n"
            "@ Row 2\n------+----------\n name | 東京\n age  | null\n\n(2 rows)\n");
}

TEST(ShellResult, CsvQuotesWhatNeedsIt) {
  StatementResult result = users();
  result.rows = {{"a,\"b\"\nc", types::encode_int32(1)}, {"", std::nullopt}};
  EXPECT_EQ(render(Format::csv, result), "name,age\n\"a,\"\"b\"\"\nc\",1\n\"\",\n");
}

TEST(ShellResult, JsonIsOneObjectALine) {
  EXPECT_EQ(render(Format::json, users()),
            "{\"name\": \"Nicholas\", \"age\": 20}\n{\"name\": \"東京\", \"age\": null}\n");
}

TEST(ShellResult, ControlCharactersDoNotReachTheTerminal) {
  StatementResult result = users();
  result.rows = {{"\033[31m\n", types::encode_int32(1)}};
  const std::string text = render(Format::table, result);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("\\x1b[31m\\n |   1"), std::string::npos);
}

TEST(ShellResult, WidthsGrowAndRowsCountOverPages) {
  const Palette plain(false);
  const SchemaNames names;
  ResultPrinter printer(Format::table, plain, names);
  EXPECT_EQ(printer.page(users(), true),
            "\n name     | age\n----------+------\n Nicholas |   20\n     東京 | null\n");
  StatementResult second = users();
  second.rows = {{"x", types::encode_int32(1)}};
  EXPECT_EQ(printer.page(second, false), "        x |    1\n");
  EXPECT_EQ(printer.end(), "\n(3 rows)\n");
}

TEST(ShellResult, ExpandedRowsAreNumberedOverPages) {
  const Palette plain(false);
  const SchemaNames names;
  ResultPrinter printer(Format::expanded, plain, names);
  std::ignore = printer.page(users(), true);
  EXPECT_EQ(printer.page(users(), true).substr(0, 8), "@ Row 3\n");
}

TEST(ShellResult, HeadersShowTheColumnsRoles) {
  const Palette palette(true);
  SchemaNames names;
  names.keyspaces["k"].tables["users"].columns = {{"name", schema::ColumnKind::partition_key},
                                                  {"age", schema::ColumnKind::clustering}};
  ResultPrinter printer(Format::table, palette, names);
  const std::string text = printer.page(users(), true);
  EXPECT_NE(text.find("\033[0;1;31mname\033[0m     | \033[0;1;36mage\033[0m\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[0;1;31mnull\033[0m"), std::string::npos);
}

TEST(ShellResult, DescriptionsOfNames) {
  StatementResult result;
  result.columns = {{"system", "describe", "keyspace_name", types::scalar(Kind::text)},
                    {"system", "describe", "type", types::scalar(Kind::text)},
                    {"system", "describe", "name", types::scalar(Kind::text)}};
  result.rows = {{"a", "table", "t1"}, {"a", "table", "t2"}, {"bb", "table", "t3"}};
  EXPECT_EQ(render_description(result, "tables", false, 80),
            "\nKeyspace a\n----------\nt1  t2\n\nKeyspace bb\n-----------\nt3\n\n");
  EXPECT_EQ(render_description(result, "TABLES", true, 80), "\nt1  t2\n\nt3\n\n");
  EXPECT_EQ(render_description(result, "keyspaces", true, 80), "\nt1  t2  t3\n\n");
}

TEST(ShellResult, DescriptionsOfDefinitions) {
  StatementResult result;
  result.columns = {{"system", "describe", "create_statement", types::scalar(Kind::text)}};
  result.rows = {{"CREATE TABLE t (\n    a int\n);"}, {"CREATE TYPE u ();"}};
  EXPECT_EQ(render_description(result, "keyspace", true, 80),
            "\nCREATE TABLE t (\n    a int\n);\n\nCREATE TYPE u ();\n");
}

TEST(ShellResult, DescriptionOfTheCluster) {
  const types::TypePtr text = types::scalar(Kind::text);
  const types::TypePtr hosts = types::list_of(text, true);
  const types::TypePtr ownership = types::map_of(text, hosts, true);
  const Bytes here = types::join(*hosts, {"/127.0.0.1:7000", "/[::1]:7000"});
  StatementResult result;
  result.columns = {{"", "", "cluster", text},
                    {"", "", "partitioner", text},
                    {"", "", "snitch", text},
                    {"", "", "range_ownership", ownership}};
  result.rows = {{"Sibyl", "Murmur3Partitioner", "Simple", types::join(*ownership, {"0", here})}};
  EXPECT_EQ(render_description(result, "cluster", true, 80),
            "\nCluster: Sibyl\nPartitioner: Murmur3Partitioner\nSnitch: Simple\n\nRange ownership:\n"
            "                                       0  [/127.0.0.1:7000, /[::1]:7000]\n\n");
}

TEST(ShellResult, Warnings) {
  EXPECT_EQ(render_warnings({}), "");
  EXPECT_EQ(render_warnings({"slow"}), "\nWarnings :\nslow\n\n");
}

}  // namespace
}  // namespace sibyl::cli::shell
