#include "cql/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "cql/printer.h"
#include "cql/sample_statements.h"
#include "cql/statement_parser.h"

namespace sibyl::cql {
namespace {

template <typename Node>
Node parse(std::string_view text) {
  auto result = parse_statement(text);
  if (!result) {
    ADD_FAILURE() << text << "\n" << result.error().message();
    return {};
  }
  auto* node = std::get_if<Node>(&(*result)->node);
  if (node == nullptr) {
    ADD_FAILURE() << text << " is another kind of statement";
    return {};
  }
  return std::move(*node);
}

template <typename Node>
const Node& as(const ExpressionPtr& expression) {
  return std::get<Node>(expression->node);
}

TEST(Parser, AcceptsEveryForm) {
  for (const char* text : sample_statements) {
    const auto result = parse_statement(text);
    EXPECT_TRUE(result.has_value()) << text << "\n" << (result ? "" : result.error().message());
  }
}

TEST(Parser, SelectClauses) {
  const Select select = parse<Select>(
      "SELECT DISTINCT a, count(*) AS n FROM Ks.\"T\" WHERE k = ? AND c > 5 GROUP BY a ORDER BY c DESC, d "
      "PER PARTITION "
      "LIMIT 2 LIMIT :max ALLOW FILTERING");
  EXPECT_TRUE(select.distinct);
  EXPECT_FALSE(select.json);
  EXPECT_EQ(select.table.keyspace, "ks");
  EXPECT_EQ(select.table.name, "T");
  ASSERT_EQ(select.selectors.size(), 2u);
  EXPECT_EQ(select.selectors[1].alias, "n");
  EXPECT_TRUE(as<FunctionCall>(select.selectors[1].expression).star);
  ASSERT_EQ(select.where.size(), 2u);
  EXPECT_EQ(select.where[1].op, Operator::greater);
  EXPECT_EQ(select.group_by.size(), 1u);
  ASSERT_EQ(select.order_by.size(), 2u);
  EXPECT_TRUE(select.order_by[0].descending);
  EXPECT_FALSE(select.order_by[1].descending);
  EXPECT_EQ(as<Literal>(select.per_partition_limit).text, "2");
  EXPECT_EQ(as<BindMarker>(select.limit).name, "max");
  EXPECT_EQ(as<BindMarker>(select.limit).index, 1u);
  EXPECT_TRUE(select.allow_filtering);
}

TEST(Parser, JsonAndDistinctMayBeColumns) {
  EXPECT_TRUE(parse<Select>("SELECT JSON a FROM t").json);
  EXPECT_TRUE(parse<Select>("SELECT JSON * FROM t").json);
  EXPECT_FALSE(parse<Select>("SELECT json FROM t").json);
  EXPECT_FALSE(parse<Select>("SELECT json AS j FROM t").json);
  EXPECT_FALSE(parse<Select>("SELECT distinct, a FROM t").distinct);
}

TEST(Parser, Precedence) {
  const Select select = parse<Select>("SELECT a + b * c - d FROM t");
  const auto& outer = as<Arithmetic>(select.selectors[0].expression);
  EXPECT_EQ(outer.op, ArithmeticOperator::subtract);
  const auto& left = as<Arithmetic>(outer.left);
  EXPECT_EQ(left.op, ArithmeticOperator::add);
  EXPECT_EQ(as<Arithmetic>(left.right).op, ArithmeticOperator::multiply);
}

TEST(Parser, ASignBetweenOperandsIsAnOperator) {
  for (const char* text : {"SELECT a-1 FROM t", "SELECT a -1 FROM t", "SELECT a - 1 FROM t"}) {
    const Select select = parse<Select>(text);
    EXPECT_EQ(print(*select.selectors[0].expression), "a - 1") << text;
  }
  EXPECT_EQ(as<Literal>(parse<Select>("SELECT -1 FROM t").selectors[0].expression).text, "-1");
}

TEST(Parser, HintsTuplesAndParentheses) {
  EXPECT_EQ(as<TypeHint>(parse<Select>("SELECT (int) a FROM t").selectors[0].expression).type.name, "int");
  EXPECT_EQ(as<TupleLiteral>(parse<Select>("SELECT (a) FROM t").selectors[0].expression).elements.size(), 1u);
  EXPECT_EQ(as<TupleLiteral>(parse<Select>("SELECT (a, b) FROM t").selectors[0].expression).elements.size(),
            2u);
  EXPECT_EQ(parse<Select>("SELECT (a) AS b FROM t").selectors[0].alias, "b");
  const Insert insert = parse<Insert>("INSERT INTO t (a, b) VALUES ((list<int>) [1], (1, 2))");
  EXPECT_EQ(as<TypeHint>(insert.values[0]).type.name, "list");
  const auto keyed = parse<Insert>("INSERT INTO t (k) VALUES ({('a', 'b'): 1, ('c'): 2})");
  EXPECT_EQ(as<MapLiteral>(keyed.values[0]).entries.size(), 2u);
  EXPECT_EQ(as<TupleLiteral>(insert.values[1]).elements.size(), 2u);
}

TEST(Parser, CollectionsAndUserTypes) {
  const Insert insert =
      parse<Insert>("INSERT INTO t (a, b, c, d) VALUES ({}, {1, 2}, {'k': 1}, {x: 1, \"Y\": 2})");
  EXPECT_TRUE(as<SetLiteral>(insert.values[0]).elements.empty());
  EXPECT_EQ(as<SetLiteral>(insert.values[1]).elements.size(), 2u);
  EXPECT_EQ(as<MapLiteral>(insert.values[2]).entries.size(), 1u);
  EXPECT_EQ(as<UserTypeLiteral>(insert.values[3]).fields[1].first, "Y");
}

TEST(Parser, Relations) {
  const Select select = parse<Select>(
      "SELECT * FROM t WHERE token(a, b) > 5 AND (c, d) IN ((1, 2)) AND e[3] = 4 AND expr(i, 'x') AND f IN "
      "() AND g IN ? "
      "AND h IS NOT NULL AND i BETWEEN 1 AND 2 AND (j = 1)");
  ASSERT_EQ(select.where.size(), 9u);
  EXPECT_EQ(select.where[0].target, Relation::Target::token);
  EXPECT_EQ(select.where[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(select.where[1].target, Relation::Target::columns);
  EXPECT_TRUE(select.where[1].has_value_list);
  EXPECT_EQ(select.where[2].target, Relation::Target::element);
  EXPECT_EQ(select.where[3].target, Relation::Target::custom);
  EXPECT_EQ(select.where[3].custom_index.name, "i");
  EXPECT_TRUE(select.where[4].has_value_list);
  EXPECT_TRUE(select.where[4].values.empty());
  EXPECT_FALSE(select.where[5].has_value_list);
  EXPECT_NE(select.where[5].value, nullptr);
  EXPECT_EQ(select.where[6].op, Operator::is_not_null);
  EXPECT_EQ(select.where[7].values.size(), 2u);
  EXPECT_EQ(select.where[8].columns[0], "j");
}

TEST(Parser, Assignments) {
  const Update update = parse<Update>(
      "UPDATE t USING TTL 5 SET a = 1, b = b + 2, c = c - 3, d = d -4, e = [5] + e, f += 6, g -= 7, h[8] = "
      "9, i.j = 10 "
      "WHERE k = 1 IF a = 2 AND h[1] > 3 AND i.j IN (4)");
  using Kind = Assignment::Kind;
  const std::vector<Kind> kinds = {Kind::set, Kind::add,      Kind::subtract, Kind::add, Kind::prepend,
                                   Kind::add, Kind::subtract, Kind::set,      Kind::set};
  ASSERT_EQ(update.assignments.size(), kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(update.assignments[i].kind, kinds[i]) << i;
  EXPECT_EQ(as<Literal>(update.assignments[3].value).text, "-4");
  EXPECT_NE(update.assignments[7].element_key, nullptr);
  EXPECT_EQ(update.assignments[8].field, "j");
  ASSERT_EQ(update.conditions.size(), 3u);
  EXPECT_EQ(update.conditions[2].field, "j");
  EXPECT_NE(update.attributes.time_to_live, nullptr);
  EXPECT_TRUE(parse<Update>("UPDATE t SET a = 1 WHERE k = 1 IF EXISTS").if_exists);
  EXPECT_EQ(parse<Update>("UPDATE t SET a = 1 WHERE k = 1 IF exists = 1").conditions.size(), 1u);
}

TEST(Parser, BatchesNeedNoSemicolons) {
  const Batch batch = parse<Batch>(
      "BEGIN COUNTER BATCH UPDATE t SET a = a + 1 WHERE k = ? UPDATE t SET a = a + 1 WHERE k = ?; APPLY "
      "BATCH;");
  EXPECT_EQ(batch.kind, Batch::Kind::counter);
  ASSERT_EQ(batch.statements.size(), 2u);
  EXPECT_EQ(as<BindMarker>(std::get<Update>(batch.statements[1]).where[0].value).index, 1u);
}

TEST(Parser, Tables) {
  const CreateTable table = parse<CreateTable>(
      "CREATE TABLE IF NOT EXISTS t (a int, b text STATIC, c frozen<list<int>> MASKED WITH DEFAULT, PRIMARY "
      "KEY ((a, b), "
      "c),) WITH CLUSTERING ORDER BY (c DESC) AND gc_grace_seconds = 5 AND compaction = {'class': 'X'} AND "
      "comment = 'y'");
  EXPECT_TRUE(table.if_not_exists);
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_TRUE(table.columns[1].is_static);
  EXPECT_TRUE(table.columns[2].type.frozen);
  EXPECT_EQ(table.columns[2].mask->function.name, "mask_default");
  EXPECT_EQ(table.partition_keys, (std::vector<std::vector<std::string>>{{"a", "b"}}));
  EXPECT_EQ(table.clustering_columns, std::vector<std::string>{"c"});
  EXPECT_TRUE(table.clustering_order[0].descending);
  ASSERT_EQ(table.properties.size(), 3u);
  EXPECT_EQ(std::get<std::string>(table.properties[0].value), "5");
  EXPECT_FALSE(table.properties[0].quoted);
  EXPECT_TRUE(table.properties[2].quoted);

  const CreateTable simple = parse<CreateTable>("CREATE TABLE t (a int PRIMARY KEY, b text)");
  EXPECT_TRUE(simple.columns[0].is_primary_key);
  EXPECT_TRUE(simple.partition_keys.empty());
  EXPECT_TRUE(parse<CreateTable>("CREATE TABLE t (a int)").partition_keys.empty());
}

TEST(Parser, Describe) {
  EXPECT_EQ(parse<Describe>("DESC TABLES").kind, Describe::Kind::tables);
  EXPECT_EQ(parse<Describe>("DESCRIBE KEYSPACE k WITH INTERNALS").name.keyspace, "k");
  EXPECT_EQ(parse<Describe>("DESCRIBE k.t").kind, Describe::Kind::anything);
  EXPECT_EQ(parse<Describe>("DESCRIBE TABLE k.t").name.name, "t");
  EXPECT_EQ(parse<Describe>("DESCRIBE MATERIALIZED VIEW v").kind, Describe::Kind::view);
}

TEST(Parser, Explain) {
  const Explain explain = parse<Explain>("EXPLAIN SELECT * FROM t WHERE a = ?");
  EXPECT_TRUE(std::holds_alternative<Select>(explain.statement->node));
  EXPECT_EQ(explain.statement->bind_markers, 1u);
}

TEST(Parser, PositionsOfNodes) {
  const Select select = parse<Select>("SELECT a,\n  b + c FROM t WHERE x = 1\n AND y = 2");
  EXPECT_EQ(select.selectors[1].expression->position.line, 2u);
  EXPECT_EQ(select.selectors[1].expression->position.column, 2u);
  EXPECT_EQ(select.where[1].position.line, 3u);
  EXPECT_EQ(select.where[1].position.column, 5u);
  EXPECT_EQ(select.table.position.offset, 23u);
}

TEST(Parser, Types) {
  EXPECT_EQ(parse_type("frozen<map<text, int>>")->parameters.size(), 2u);
  EXPECT_EQ(parse_type("vector<float, 3>")->dimension, 3u);
  EXPECT_EQ(parse_type("KS.\"Udt\"")->name, "Udt");
  EXPECT_FALSE(parse_type("list<int").has_value());
  EXPECT_FALSE(parse_type("int int").has_value());
  EXPECT_EQ(parse_type("frozen<int>").error().message(),
            "frozen<> is only allowed on collections, tuples, and user-defined types (got int)");
  EXPECT_EQ(parse_type("vector<int, 0>").error().message(),
            "vectors may only have positive dimensions; given 0");
}

// --- Limits

std::string repeat(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(ParserLimits, RefusesMoreThanHalfAMillionTokens) {
  const auto list_of = [](size_t terms) {
    return "SELECT * FROM t WHERE k IN (1" + repeat(",1", terms - 1) + ")";
  };
  EXPECT_TRUE(parse_statement(list_of(249'000)));
  const auto refused = parse_statement(list_of(251'000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::syntax);
  EXPECT_NE(refused.error().message().find("statement is too long: more than 500000 tokens"),
            std::string::npos)
      << refused.error().message();
  // A long statement of few tokens is allowed.
  EXPECT_TRUE(parse_statement("INSERT INTO t (k) VALUES (0x" + repeat("00", 4'000'000) + ")"));
}

TEST(ParserLimits, NestingOf100000IsAnErrorNotACrash) {
  const size_t deep = 100'000;
  const std::string statements[] = {
      "SELECT " + repeat("(", deep) + "a" + repeat(")", deep) + " FROM t",
      "SELECT " + repeat("- ", deep) + "a FROM t",
      "SELECT " + repeat("CAST(", deep) + "a",
      "SELECT " + repeat("f(", deep) + "a",
      "SELECT " + repeat("(int) ", deep) + "a FROM t",
      "SELECT " + repeat("[", deep),
      "SELECT " + repeat("{", deep),
      "SELECT a" + repeat(".b", deep) + " FROM t",
      "SELECT a" + repeat("[1]", deep) + " FROM t",
      "SELECT " + repeat("a + ", deep) + "a FROM t",
      "SELECT " + repeat("a * ", deep) + "a FROM t",
      "SELECT * FROM t WHERE " + repeat("(", deep) + "a = 1" + repeat(")", deep),
      "SELECT * FROM t WHERE a = " + repeat("(", deep) + "1" + repeat(")", deep),
      "INSERT INTO t (a) VALUES (" + repeat("[", deep) + repeat("]", deep) + ")",
      "INSERT INTO t (a) VALUES (" + repeat("{1: ", deep),
      "INSERT INTO t (a) VALUES (" + repeat("{a: ", deep),
      "CREATE TABLE t (a " + repeat("list<", deep) + "int" + repeat(">", deep) + " PRIMARY KEY)",
      "CREATE TABLE t (a " + repeat("frozen<", deep) + "int",
      repeat("EXPLAIN ", deep) + "SELECT * FROM t",
  };
  for (const std::string& statement : statements) {
    const auto result = parse_statement(statement);
    ASSERT_FALSE(result.has_value()) << statement.substr(0, 60);
    EXPECT_EQ(result.error().code(), base::ErrorCode::syntax);
    EXPECT_NE(result.error().message().find("nested too deeply"), std::string::npos)
        << statement.substr(0, 60) << "\n"
        << result.error().message().substr(0, 200);
    EXPECT_LT(result.error().message().size(), 500u) << statement.substr(0, 60);
  }
}

TEST(ParserLimits, OrdinaryDepthIsFine) {
  EXPECT_TRUE(parse_statement("SELECT " + repeat("(", 100) + "a" + repeat(")", 100) + " FROM t").has_value());
  EXPECT_TRUE(parse_statement("SELECT " + repeat("a + ", 200) + "a FROM t").has_value());
}

TEST(ParserLimits, CommentsAndListsMayBeLong) {
  EXPECT_TRUE(parse_statement(repeat("/* x */ -- y\n", 100'000) + "SELECT * FROM t").has_value());
  EXPECT_TRUE(parse_statement("SELECT * FROM t WHERE a IN (" + repeat("1, ", 100'000) + "1)").has_value());
  EXPECT_TRUE(parse_statement("SELECT * FROM t" + repeat(";", 100'000)).has_value());
}

// All properties and assignments are compared with earlier ones, which must not take quadratic time.
TEST(ParserLimits, PropertiesAndAssignmentsTakeLinearTime) {
  std::string map, list, elements;
  for (int i = 0; i < 100'000; ++i) {
    map += fmt::format("{}'a{}': 'b'", i == 0 ? "" : ", ", i);
    list += fmt::format("{}a{} = 1", i == 0 ? "" : " AND ", i);
  }
  for (int i = 0; i < 60'000; ++i) elements += fmt::format("{}m[{}] = 1", i == 0 ? "" : ", ", i);
  const std::clock_t before = std::clock();
  EXPECT_TRUE(parse_statement("CREATE TABLE t (k int PRIMARY KEY) WITH caching = {" + map + "}").has_value());
  EXPECT_TRUE(parse_statement("ALTER TABLE t WITH " + list).has_value());
  EXPECT_TRUE(parse_statement("CREATE TABLE t (k int PRIMARY KEY) WITH " + list).has_value());
  EXPECT_TRUE(parse_statement("UPDATE t SET " + elements + " WHERE k = 1").has_value());
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 3);
  EXPECT_FALSE(parse_statement("ALTER TABLE t WITH a = 1 AND b = 2 AND a = 3").has_value());
  EXPECT_FALSE(parse_statement("ALTER TABLE t WITH a = {'b': 1, 'c': 2, 'b': 3}").has_value());
  for (const char* parts : {"a = 1, b = 2, a = 3", "a[1] = 1, a = 2", "a = 1, a[1] = 2",
                            "a.x = 1, a.y = 1, a.x = 2", "a.x = 1, a = {x: 1}", "a = 1, a = a + 1"})
    EXPECT_FALSE(parse_statement(fmt::format("UPDATE t SET {} WHERE k = 1", parts)).has_value()) << parts;
  for (const char* parts :
       {"a[1] = 1, a[1] = 2", "a.x = 1, a.y = 2", "a = a + 1, a = a + 2", "a = 1, b.a = 1, c[1] = 1"})
    EXPECT_TRUE(parse_statement(fmt::format("UPDATE t SET {} WHERE k = 1", parts)).has_value()) << parts;
}

TEST(ParserLimits, BindMarkers) {
  const auto with_markers = [](size_t count) {
    return parse_statement("SELECT * FROM t WHERE a IN (" + repeat("?, ", count - 1) + "?)");
  };
  const auto most = with_markers(max_bind_markers);
  ASSERT_TRUE(most.has_value());
  EXPECT_EQ((*most)->bind_markers, max_bind_markers);
  const auto too_many = with_markers(max_bind_markers + 1);
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error().message(),
            "Too many markers(?). 65536 markers exceed the allowed maximum of 65535");
}

}  // namespace
}  // namespace sibyl::cql
