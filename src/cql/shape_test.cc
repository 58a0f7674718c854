#include "cql/shape.h"

#include <gtest/gtest.h>

#include "cql/parser.h"
#include "cql/sample_statements.h"

namespace sibyl::cql {
namespace {

std::string shape(std::string_view text, std::string_view keyspace = "k") {
  const auto statement = parse_statement(text);
  EXPECT_TRUE(statement) << text << ": " << statement.error().text();
  return statement ? print_shape(**statement, keyspace) : "";
}

TEST(Shape, replaces_constants_by_markers_and_qualifies_tables) {
  EXPECT_EQ(shape("select a from t where k = 5 and c > :low limit 10"),
            "SELECT a FROM k.t WHERE k = ? AND c > ? LIMIT ?");
  EXPECT_EQ(shape("SELECT * FROM other.t WHERE k = 'it''s'"), "SELECT * FROM other.t WHERE k = ?");
  EXPECT_EQ(shape("INSERT INTO t (k, v, m) VALUES (1, -2, {'a': [1, 2]}) USING TTL 5"),
            "INSERT INTO k.t (k, v, m) VALUES (?, ?, ?) USING TTL ?");
  EXPECT_EQ(shape("INSERT INTO t JSON '{\"k\": 1}'"), "INSERT INTO k.t JSON ?");
  EXPECT_EQ(shape("UPDATE t SET v = v + 1, m['x'] = null WHERE k = 1 IF w = true"),
            "UPDATE k.t SET v = v + ?, m[?] = ? WHERE k = ? IF w = ?");
  EXPECT_EQ(shape("DELETE m['x'] FROM t WHERE k = 0xcafe"), "DELETE m[?] FROM k.t WHERE k = ?");
}

TEST(Shape, in_lists_of_any_length_have_one_shape) {
  EXPECT_EQ(shape("SELECT * FROM t WHERE k IN (1, 2, 3)"), "SELECT * FROM k.t WHERE k IN ?");
  EXPECT_EQ(shape("SELECT * FROM t WHERE k IN (?, ?)"), "SELECT * FROM k.t WHERE k IN ?");
  EXPECT_EQ(shape("SELECT * FROM t WHERE k IN ?"), "SELECT * FROM k.t WHERE k IN ?");
  EXPECT_EQ(shape("SELECT * FROM t WHERE k = 1 AND (a, b) IN ((1, 2), (3, 4))"),
            "SELECT * FROM k.t WHERE k = ? AND (a, b) IN ?");
  EXPECT_EQ(shape("SELECT * FROM t WHERE k IN (uuid(), ?)"), "SELECT * FROM k.t WHERE k IN (uuid(), ?)");
}

TEST(Shape, keeps_functions_and_columns) {
  EXPECT_EQ(shape("SELECT (a + 1) * 2, max(b) FROM t WHERE token(k) > token(7)"),
            "SELECT (a + ?) * ?, max(b) FROM k.t WHERE token(k) > token(?)");
  EXPECT_EQ(shape("SELECT * FROM t WHERE k = now()"), "SELECT * FROM k.t WHERE k = now()");
}

TEST(Shape, lists_each_kind_of_statement_in_a_batch_once) {
  EXPECT_EQ(shape("BEGIN UNLOGGED BATCH INSERT INTO t (k) VALUES (1); INSERT INTO t (k) VALUES (2); "
                  "DELETE FROM t WHERE k = 3; INSERT INTO t (k) VALUES (4); APPLY BATCH"),
            "BEGIN UNLOGGED BATCH DELETE FROM k.t WHERE k = ?; INSERT INTO k.t (k) VALUES (?); APPLY BATCH");
}

TEST(Shape, the_order_of_a_batch_does_not_matter) {
  EXPECT_EQ(shape("BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1; DELETE FROM t WHERE k = 3; APPLY BATCH"),
            shape("BEGIN BATCH DELETE FROM t WHERE k = 4; UPDATE t SET v = 1 WHERE k = 1; APPLY BATCH"));
}

// A shape is valid CQL, and its shape is itself.
TEST(Shape, the_shape_of_a_shape_is_itself) {
  for (const char* text : sample_statements) {
    const auto statement = parse_statement(text);
    ASSERT_TRUE(statement) << text;
    const auto& node = (*statement)->node;
    if (!std::holds_alternative<Select>(node) && !std::holds_alternative<Insert>(node) &&
        !std::holds_alternative<Update>(node) && !std::holds_alternative<Delete>(node) &&
        !std::holds_alternative<Batch>(node))
      continue;
    const std::string once = print_shape(**statement, "k");
    const auto again = parse_statement(once);
    ASSERT_TRUE(again) << text << " gives " << once << ": " << again.error().text();
    EXPECT_EQ(print_shape(**again, "k"), once) << text;
  }
}

}  // namespace
}  // namespace sibyl::cql
