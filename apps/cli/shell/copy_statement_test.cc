#include "cli/shell/copy_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> arguments_of(std::string_view text, const std::string& keyspace = "films") {
  const auto parsed = parse_copy(text, keyspace);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().text();
  return parsed ? parsed->arguments : std::vector<std::string>();
}

TEST(CopyStatement, BecomesImportOrExport) {
  EXPECT_THAT(arguments_of("COPY movies TO 'a b.csv'"),
              ElementsAre("export", "films.movies", "a b.csv", "--format", "csv"));
  EXPECT_THAT(
      arguments_of("copy ks.\"T\" (a, \"B\") from STDIN;"),
      ElementsAre("import", "ks.\"T\"", "-", "--format", "csv", "--write-nulls", "--columns", "a,\"B\""));
  EXPECT_THAT(arguments_of("COPY movies FROM 'it''s.csv' WITH HEADER = TRUE AND DELIMITER='|' AND ttl=60"),
              ElementsAre("import", "films.movies", "it's.csv", "--format", "csv", "--write-nulls",
                          "--header", "--delimiter", "|", "--ttl", "60"));
  EXPECT_THAT(arguments_of("COPY movies TO STDOUT WITH HEADER = false"),
              ElementsAre("export", "films.movies", "-", "--format", "csv"));
}

TEST(CopyStatement, OptionsThatOnlyTuneCqlshAreNamed) {
  const auto parsed =
      parse_copy("COPY movies TO 'f' WITH pagesize=100 AND HEADER=true AND ENCODING='utf8'", "films");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->ignored, ElementsAre("PAGESIZE", "ENCODING"));
}

TEST(CopyStatement, Refusals) {
  struct Case {
    const char *text, *why;
  };
  for (const Case& c :
       {Case{"COPY", "name of a table"}, Case{"COPY movies", "FROM or TO"},
        Case{"COPY movies TO f", "in quotes"}, Case{"COPY movies TO 'f", "not closed"},
        Case{"COPY movies (a TO 'f'", "parenthesis"}, Case{"COPY movies TO 'f' HEADER", "cannot follow"},
        Case{"COPY movies TO 'f' WITH TTL=1", "no option"},
        Case{"COPY movies TO 'f' WITH SIZE=1", "no option"},
        Case{"COPY movies TO 'f' WITH HEADER", "needs a value"},
        Case{"COPY movies FROM STDOUT", "in quotes"}}) {
    const auto parsed = parse_copy(c.text, "films");
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(c.why)) << c.text;
    EXPECT_NE(parsed.error().hint(), "") << c.text;
  }
  EXPECT_THAT(parse_copy("COPY movies TO 'f'", "").error().message(), HasSubstr("No keyspace"));
}

}  // namespace
}  // namespace sibyl::cli::shell
