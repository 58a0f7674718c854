#include "engine/describe/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_result.h"

namespace sibyl::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LayoutTest : public testing::Test {
 protected:
  LayoutTest() {
    engine_ = std::move(*Engine::open({}));
    must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }
  void must(std::string_view text) {
    const auto result = run_text(*engine_, text, "ks");
    ASSERT_TRUE(result.has_value()) << text << ": " << result.error().message();
  }
  std::string layout(const std::string& table, std::optional<std::string> partition = {},
                     LayoutOptions options = {}) {
    auto drawing = render_layout(*engine_, "ks", table, partition, options);
    return drawing ? *drawing : "error: " + drawing.error().message();
  }

  std::unique_ptr<Engine> engine_;
};

TEST_F(LayoutTest, WideRowsAsOnTheWhiteboard) {
  must("CREATE TABLE movies (title varchar, rating int, time timestamp, PRIMARY KEY (title, time))");
  for (const char* row : {"1368284297711, 9", "1368284468993, 10", "1368284474188, 6"})
    must(std::string("INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', ") + row +
         ") USING TIMESTAMP 17");
  for (const char* row : {"1368284605867, 5", "1368284612339, 8", "1368284617643, 10"})
    must(std::string("INSERT INTO movies (title, time, rating) VALUES ('Futurama', ") + row +
         ") USING TIMESTAMP 18");
  EXPECT_EQ(
      layout("movies"),
      "ks.movies: partitions by (title), cells sorted by (time)\n"
      "+--------------+------------------------+------------------------+------------------------+\n"
      "| row key      | columns                                                                  |\n"
      "+--------------+------------------------+------------------------+------------------------+\n"
      "|              | 1368284605867:\"rating\" | 1368284612339:\"rating\" | 1368284617643:\"rating\" |\n"
      "| Futurama     | 5                      | 8                      | 10                     |\n"
      "|              | @18                    | @18                    | @18                    |\n"
      "+--------------+------------------------+------------------------+------------------------+\n"
      "|              | 1368284297711:\"rating\" | 1368284468993:\"rating\" | 1368284474188:\"rating\" |\n"
      "| Pulp Fiction | 9                      | 10                     | 6                      |\n"
      "|              | @17                    | @17                    | @17                    |\n"
      "+--------------+------------------------+------------------------+------------------------+\n"
      "Futurama: token 7458274283937874077, 3 rows in 3 records, 147 bytes (96 of keys, 51 of values)\n"
      "Pulp Fiction: token 8969981387711879302, 3 rows in 3 records, 159 bytes (108 of keys, 51 of "
      "values)\n");
}

TEST_F(LayoutTest, NamesOfTextInQuotes) {
  must(
      "CREATE TABLE phones (company text, name text, field_name text, field_value text, "
      "PRIMARY KEY (company, name, field_name))");
  must(
      "INSERT INTO phones (company, name, field_name, field_value) "
      "VALUES ('Company A', 'John Smith', 'phone', '+1 123 456 789')");
  EXPECT_THAT(layout("phones", "'Company A'"),
              AllOf(HasSubstr("| \"John Smith\":\"phone\":\"field_value\" |"), HasSubstr("| +1 123 456 789"),
                    HasSubstr("| Company A |")));
  EXPECT_EQ(layout("phones", "Company A"), layout("phones", "'Company A'"));  // a shell removed the quotes
  EXPECT_THAT(layout("phones", "'Company B'"), HasSubstr("The partition is empty."));
}

TEST_F(LayoutTest, DeletionsAndExpiryAreCells) {
  must("CREATE TABLE t (k int, c int, v text, s text static, PRIMARY KEY (k, c))");
  must("UPDATE t USING TIMESTAMP 5 SET s = 'shared' WHERE k = 1");
  must("INSERT INTO t (k, c, v) VALUES (1, 1, 'short') USING TIMESTAMP 6 AND TTL 3600");
  must("DELETE v FROM t USING TIMESTAMP 7 WHERE k = 1 AND c = 2");
  must("DELETE FROM t USING TIMESTAMP 8 WHERE k = 1 AND c = 3");
  must("DELETE FROM t USING TIMESTAMP 9 WHERE k = 1 AND c > 10 AND c <= 20");
  must("INSERT INTO t (k, c) VALUES (1, 4) USING TIMESTAMP 10");
  must("DELETE FROM t USING TIMESTAMP 4 WHERE k = 1");
  std::string drawing = layout("t", "1", {.width = 1});
  EXPECT_THAT(drawing, AllOf(HasSubstr("static:\"s\""), HasSubstr("@6 ttl 3600 until "), HasSubstr("2:\"v\""),
                             HasSubstr("(deleted)"), HasSubstr("(row deleted)"), HasSubstr("(rows deleted)"),
                             HasSubstr("(row marker)"), HasSubstr("(partition)")));
  EXPECT_THAT(drawing, HasSubstr("11 ..< 21"));
  size_t partition = drawing.find("(partition)"), range = drawing.find("11 ..< 21"),
         row = drawing.find("1:\"v\"");
  EXPECT_LT(partition, range);
  EXPECT_LT(range, row);
}

TEST_F(LayoutTest, BoundsOfRangeDeletions) {
  must("CREATE TABLE t (k int, c text, d int, PRIMARY KEY (k, c, d))");
  must("DELETE FROM t WHERE k = 1 AND c > 'a' AND c <= 'b'");
  EXPECT_THAT(layout("t", "1"), HasSubstr("| \"a\" <.. \"b\" "));
  must("DELETE FROM t WHERE k = 2 AND c = 'x' AND d >= 5");
  EXPECT_THAT(layout("t", "2"), HasSubstr("| \"x\":5 .. \"x\" "));
  must("DELETE FROM t WHERE k = 3 AND c < 'm'");
  EXPECT_THAT(layout("t", "3"), HasSubstr("| ..< \"m\" "));
}

TEST_F(LayoutTest, CollectionsAreOneCellPerElement) {
  must("CREATE TYPE pt (x int, y int)");
  must(
      "CREATE TABLE t (k int PRIMARY KEY, tags set<text>, ages map<text, int>, names list<text>, p pt, n "
      "frozen<list<int>>)");
  must(
      "INSERT INTO t (k, tags, ages, names, p, n) VALUES (1, {'a', 'b'}, {'x': 1}, ['first'], {x: 3, y: 4}, "
      "[5, 6])");
  EXPECT_THAT(layout("t", "1"),
              AllOf(HasSubstr("\"tags\":\"a\""), HasSubstr("\"tags\":\"b\""), HasSubstr("\"ages\":\"x\""),
                    HasSubstr("\"p\":\"x\""), HasSubstr("\"p\":\"y\""), HasSubstr("| [5, 6] "),
                    HasSubstr("| first "), HasSubstr("\"tags\":*"), HasSubstr("(elements deleted)")));
}

TEST_F(LayoutTest, CountersAndCompositeKeys) {
  must("CREATE TABLE hits (a int, b text, day date, n counter, PRIMARY KEY ((a, b), day))");
  must("UPDATE hits SET n = n + 41 WHERE a = 7 AND b = 'it''s' AND day = '2020-02-03'");
  must("UPDATE hits SET n = n + 1 WHERE a = 7 AND b = 'it''s' AND day = '2020-02-03'");
  EXPECT_THAT(layout("hits", "7, 'it''s'"),
              AllOf(HasSubstr("| 7:it's "), HasSubstr("2020-02-03:\"n\""), HasSubstr("| 42 ")));
  EXPECT_THAT(layout("hits", "7"), HasSubstr("error: "));
  EXPECT_THAT(layout("hits", "7, 8"), HasSubstr("error: Invalid INTEGER constant (8)"));
}

TEST_F(LayoutTest, LimitsAreReported) {
  must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 30; ++c)
      must("INSERT INTO t (k, c, v) VALUES (" + std::to_string(k) + ", " + std::to_string(c) + ", 0)");
  std::string drawing = layout("t", "2", {.max_rows = 7});
  EXPECT_THAT(drawing, AllOf(HasSubstr("30 rows"), HasSubstr("23 more rows are not shown"),
                             HasSubstr("6:\"v\""), Not(HasSubstr("7:\"v\""))));
  drawing = layout("t", {}, {.max_partitions = 3, .max_rows = 1});
  EXPECT_THAT(drawing, HasSubstr("There are more partitions"));
  EXPECT_THAT(layout("t", {}, {.max_partitions = 4}), Not(HasSubstr("There are more partitions")));
  // Lines keep to the width, and long values are truncated.
  must("CREATE TABLE long (k text PRIMARY KEY, v text)");
  must("INSERT INTO long (k, v) VALUES ('k', '" + std::string(500, 'x') + "')");
  drawing = layout("long", {}, {.width = 80});
  EXPECT_THAT(drawing, HasSubstr("xxx..."));
  size_t begin = 0;
  for (size_t end; (end = drawing.find('\n', begin)) != drawing.npos; begin = end + 1)
    if (drawing[begin] == '|' || drawing[begin] == '+') {
      EXPECT_LE(end - begin, 80u);
    }
}

TEST_F(LayoutTest, Refusals) {
  EXPECT_EQ(layout("nope"), "error: Table 'nope' not found in keyspace 'ks'");
  EXPECT_EQ(render_layout(*engine_, "nowhere", "t", {}).error().message(),
            "Keyspace 'nowhere' does not exist");
  EXPECT_THAT(render_layout(*engine_, "system", "local", {}).error().message(),
              HasSubstr("no stored records"));
  must("CREATE TABLE t (k int PRIMARY KEY)");
  EXPECT_THAT(layout("t"), HasSubstr("The table is empty."));
  EXPECT_THAT(layout("t", "'x'"), HasSubstr("error: "));
  EXPECT_THAT(layout("t", "1) USING TTL 1 --"), HasSubstr("ks.t"));
}

}  // namespace
}  // namespace sibyl::engine
