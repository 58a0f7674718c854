#include "cql/printer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cql/parser.h"
#include "cql/sample_statements.h"
#include "cql/tree_equality.h"

namespace sibyl::cql {
namespace {

TEST(Printer, EveryFormRoundTrips) {
  for (const char* text : sample_statements) {
    const auto first = parse_statement(text);
    ASSERT_TRUE(first.has_value()) << text << "\n" << first.error().message();
    const std::string printed = print(**first);
    const auto second = parse_statement(printed);
    ASSERT_TRUE(second.has_value()) << printed << "\n" << second.error().message();
    EXPECT_TRUE(same_tree(**first, **second)) << text << "\n" << printed;
  }
}

TEST(Printer, EqualitySeesDifferences) {
  const auto parse = [](const char* text) { return std::move(*parse_statement(text)); };
  EXPECT_TRUE(same_tree(*parse("SELECT a FROM t"), *parse("select  A\nfrom T")));
  EXPECT_FALSE(same_tree(*parse("SELECT a FROM t"), *parse("SELECT b FROM t")));
  EXPECT_FALSE(same_tree(*parse("SELECT a FROM t"), *parse("SELECT a FROM t LIMIT 1")));
  EXPECT_FALSE(same_tree(*parse("SELECT a + b FROM t"), *parse("SELECT a - b FROM t")));
}

TEST(Printer, NamesAndStrings) {
  EXPECT_EQ(print_name("plain_1"), "plain_1");
  EXPECT_EQ(print_name("Mixed"), "\"Mixed\"");
  EXPECT_EQ(print_name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(print_name("select"), "\"select\"");
  EXPECT_EQ(print_name("key"), "key");
  EXPECT_EQ(print_name(""), "\"\"");
  EXPECT_EQ(print_name("1a"), "\"1a\"");
  EXPECT_EQ(print_string("it's"), "'it''s'");
}

TEST(Printer, Types) {
  for (const char* text : {"int", "frozen<map<text, frozen<list<int>>>>", "vector<float, 3>", "ks.\"T\"",
                           "tuple<int, set<uuid>>", "'org.apache.Type'"}) {
    const auto type = parse_type(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(print(*type), text);
  }
}

TEST(Printer, AddsParenthesesWhereNeeded) {
  const auto column = [](const char* name) {
    return std::make_unique<Expression>(Expression{{}, ColumnReference{name}});
  };
  const auto combine = [](ArithmeticOperator op, ExpressionPtr left, ExpressionPtr right) {
    return std::make_unique<Expression>(Expression{{}, Arithmetic{op, std::move(left), std::move(right)}});
  };
  using enum ArithmeticOperator;
  EXPECT_EQ(print(*combine(multiply, combine(add, column("a"), column("b")), column("c"))), "(a + b) * c");
  EXPECT_EQ(print(*combine(subtract, column("a"), combine(subtract, column("b"), column("c")))),
            "a - (b - c)");
  EXPECT_EQ(print(*combine(add, combine(multiply, column("a"), column("b")), column("c"))), "a * b + c");
}

// --- Random trees

using rc::gen::just;

std::string any_name() {
  return *rc::gen::oneOf(
      rc::gen::element<std::string>("a", "b1", "Mixed", "select", "key", "json", "as", "per", "ttl", "token",
                                    "int", "list", "a\"b", "ünï", "order", "p1y", "nan"),
      rc::gen::map(rc::gen::nonEmpty(rc::gen::string<std::string>()), [](std::string text) {
        for (char& c : text) c = static_cast<char>('a' + (static_cast<unsigned char>(c) % 26));
        return text;
      }));
}

Literal any_literal() {
  using Kind = Literal::Kind;
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      return {Kind::integer, std::to_string(*rc::gen::arbitrary<int64_t>())};
    case 1:
      return {Kind::floating,
              *rc::gen::element<std::string>("1.5", "-2e10", "NaN", "Infinity", "-Infinity", "7.")};
    case 2:
      return {Kind::string, *rc::gen::element<std::string>("", "x", "it's", "a\nb", "$$", "é😀", "--", "/*")};
    case 3:
      return {Kind::uuid, "123e4567-e89b-12d3-a456-426614174000"};
    case 4:
      return {Kind::boolean, *rc::gen::element<std::string>("true", "false")};
    case 5:
      return {Kind::blob, *rc::gen::element<std::string>("0x", "0xCAFE")};
    case 6:
      return {Kind::duration, *rc::gen::element<std::string>("1h", "-2mo3d", "P1Y", "-PT5S", "5µs")};
    case 7:
      return {Kind::integer, std::to_string(*rc::gen::inRange(-5, 5))};
    default:
      return {Kind::null, "null"};
  }
}

RawType any_type(int depth) {
  RawType type;
  const int kind = *rc::gen::inRange(0, depth > 0 ? 7 : 3);
  switch (kind) {
    case 0:
      type.name = *rc::gen::element<std::string>("int", "text", "timeuuid");
      return type;
    case 1:
      type.name = *rc::gen::element<std::string>("address", "My Type", "list", "byte", "key");
      break;
    case 2:
      type.name = "t";
      type.keyspace = any_name();
      break;
    case 3:
    case 4:
      type.name = kind == 3 ? "list" : "set";
      type.parameters.push_back(any_type(depth - 1));
      break;
    case 5:
      type.name = "map";
      type.parameters.push_back(any_type(depth - 1));
      type.parameters.push_back(any_type(depth - 1));
      break;
    default:
      type.name = "vector";
      type.parameters.push_back(any_type(depth - 1));
      type.dimension = static_cast<uint32_t>(*rc::gen::inRange(1, 2000));
      break;
  }
  type.frozen = *rc::gen::arbitrary<bool>();
  return type;
}

class TreeMaker {
 public:
  // Makes selectors if `columns` is true, otherwise terms.
  explicit TreeMaker(bool columns) : columns_(columns) {}

  ExpressionPtr expression(int depth) {
    const int kind = *rc::gen::inRange(0, depth > 0 ? 4 : 1);
    if (kind == 1) {
      const auto op = static_cast<ArithmeticOperator>(*rc::gen::inRange(0, 5));
      ExpressionPtr left = operand(depth - 1);
      return make(Arithmetic{op, std::move(left), operand(depth - 1)});
    }
    if (kind == 2) return make(Negation{operand(depth - 1)});
    return operand(depth);
  }

 private:
  template <typename Node>
  static ExpressionPtr make(Node node) {
    return std::make_unique<Expression>(Expression{{}, std::move(node)});
  }

  std::vector<ExpressionPtr> several(int depth, int least) {
    std::vector<ExpressionPtr> result;
    for (int i = *rc::gen::inRange(least, 4); i > 0; --i) result.push_back(expression(depth));
    return result;
  }

  ExpressionPtr operand(int depth) {
    if (columns_ && depth > 0 && *rc::gen::inRange(0, 4) == 0) return modified(depth - 1);
    return primary(depth);
  }

  ExpressionPtr modified(int depth) {
    ExpressionPtr of = primary(depth);
    TreeMaker terms(false);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        return make(FieldSelection{std::move(of), any_name()});
      case 1:
        return make(ElementSelection{std::move(of), terms.expression(depth)});
      case 2:
        return make(SliceSelection{std::move(of), terms.expression(depth), nullptr});
      default:
        return make(SliceSelection{std::move(of), nullptr, terms.expression(depth)});
    }
  }

  ExpressionPtr primary(int depth) {
    switch (*rc::gen::inRange(0, depth > 0 ? 10 : 3)) {
      case 0:
        return make(any_literal());
      case 1:
        return columns_ ? make(ColumnReference{any_name()}) : make(any_literal());
      case 2:
        return make(BindMarker{*rc::gen::arbitrary<bool>() ? "" : any_name(), 0});
      case 3:
        return make(ListLiteral{several(depth - 1, 0)});
      case 4:
        return make(SetLiteral{several(depth - 1, 0)});
      case 5:
        return make(TupleLiteral{several(depth - 1, 1)});
      case 6:
        return map_or_user_type(depth - 1);
      case 7:
        return make(
            FunctionCall{{*rc::gen::arbitrary<bool>() ? "" : "ks", any_name(), {}}, several(depth - 1, 0)});
      case 8:
        return make(TypeHint{any_type(2), primary(depth - 1)});
      default: {
        RawType native;
        native.name = "text";
        return make(Cast{columns_ ? expression(depth - 1) : primary(depth - 1), std::move(native)});
      }
    }
  }

  ExpressionPtr map_or_user_type(int depth) {
    MapLiteral map;
    UserTypeLiteral fields;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
      ExpressionPtr key = make(any_literal());
      map.entries.emplace_back(std::move(key), expression(depth));
      fields.fields.emplace_back(any_name(), expression(depth));
    }
    if (*rc::gen::arbitrary<bool>()) return make(std::move(map));
    return make(std::move(fields));
  }

  bool columns_;
};

// The parser numbers markers, so number the tree's markers in the order of its text.
std::string check_round_trip(std::unique_ptr<Statement> statement) {
  const std::string printed = print(*statement);
  const auto first = parse_statement(printed);
  if (!first) return printed + ": " + first.error().message();
  const std::string again = print(**first);
  if (again != printed) return printed + " became " + again;
  const auto second = parse_statement(again);
  if (!second || !same_tree(**first, **second)) return printed + " is not stable";
  return "";
}

RC_GTEST_PROP(Printer, RandomSelectorsRoundTrip, ()) {
  auto statement = std::make_unique<Statement>();
  Select select;
  select.table.name = any_name();
  Selector selector;
  selector.expression = TreeMaker(true).expression(*rc::gen::inRange(0, 5));
  selector.alias = *rc::gen::arbitrary<bool>() ? any_name() : "";
  select.selectors.push_back(std::move(selector));
  statement->node = std::move(select);
  RC_ASSERT(check_round_trip(std::move(statement)) == "");
}

RC_GTEST_PROP(Printer, RandomTermsRoundTrip, ()) {
  auto statement = std::make_unique<Statement>();
  Insert insert;
  insert.table.name = any_name();
  insert.columns.push_back(any_name());
  insert.values.push_back(TreeMaker(false).expression(*rc::gen::inRange(0, 5)));
  statement->node = std::move(insert);
  RC_ASSERT(check_round_trip(std::move(statement)) == "");
}

RC_GTEST_PROP(Printer, RandomTypesRoundTrip, ()) {
  const RawType type = any_type(5);
  const auto again = parse_type(print(type));
  RC_ASSERT(again.has_value());
  RC_ASSERT(same_tree(type, *again));
}

}  // namespace
}  // namespace sibyl::cql
