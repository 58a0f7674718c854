#include "plan/terms/term.h"

#include <gtest/gtest.h>

#include <chrono>

#include "plan/test_planning.h"

namespace sibyl::plan {
namespace {

class TermTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TYPE ty (a int, b text)");
  }
};

TEST_F(TermTest, LiteralsTakeTheReceiversType) {
  EXPECT_EQ(value("5", "int"), "5");
  EXPECT_EQ(value("5", "varint"), "5");
  EXPECT_EQ(value("5", "double"), "5.0");
  EXPECT_EQ(value("null", "int"), "null");
  EXPECT_EQ(value("'x'", "int"), "Invalid STRING constant (x) for \"c\" of type int");
  EXPECT_EQ(value("5", "text"), "Invalid INTEGER constant (5) for \"c\" of type text");
  EXPECT_EQ(value("{'b': 2, 'a': 1, 'b': 3}", "map<text, int>"), "{'a': 1, 'b': 3}");
  EXPECT_EQ(value("{3, 1, 3}", "set<int>"), "{1, 3}");
  EXPECT_EQ(value("{}", "map<int, int>"), "{}");
  EXPECT_EQ(value("{a: 1}", "frozen<ty>"), "{a: 1, b: null}");
  EXPECT_EQ(value("(1, 'x')", "tuple<int, text>"), "(1, 'x')");
  EXPECT_EQ(value("[1.5, 2]", "vector<float, 2>"), "[1.5, 2.0]");
  EXPECT_EQ(value("[[1], [2, 3]]", "list<frozen<list<int>>>"), "[[1], [2, 3]]");
}

TEST_F(TermTest, CallsAndArithmeticFindTheirSignature) {
  EXPECT_EQ(value("1 + 2 * 3", "int"), "7");
  EXPECT_EQ(value("1 + 2 * 3", "bigint"), "7");
  EXPECT_EQ(value("(1 + 2) * 3", "int"), "9");
  EXPECT_EQ(value("7 / 2", "double"), "3.5");
  EXPECT_EQ(value("1 + 2147483647", "int"), "-2147483648");
  EXPECT_EQ(value("1 / 0", "int"), "the operation 'int / int' failed: / by zero");
  EXPECT_EQ(value("blob_as_int(int_as_blob(5))", "int"), "5");
  EXPECT_EQ(value("toTimestamp(now())", "timestamp"), "'2023-11-14T22:13:20.123Z'");
  EXPECT_EQ(value("current_time()", "time"), "'22:13:20.123456000'");
  EXPECT_EQ(value("fromJson('[1, 2]')", "list<int>"), "[1, 2]");
  EXPECT_EQ(value("fromJson('x')", "list<int>").substr(0, 33), "Could not decode JSON string 'x':");
  EXPECT_EQ(value("uuid()", "timeuuid"),
            "Type error: cannot assign result of function system.uuid (type uuid) to c (type timeuuid)");
  EXPECT_EQ(value("nofun(1)", "int"), "Unknown function nofun called");
}

TEST_F(TermTest, ExtremeNumbersAndTimesAreCheapAndDoNotOverflow) {
  // This is 1e2000000000, which no literal can express.
  const std::string huge = "blob_as_decimal(0x88ca6c0001)";
  EXPECT_EQ(value("round(1e-2000000000)", "decimal"), "0");
  EXPECT_EQ(value("round(" + huge + ")", "decimal"), "The result of round is too large");
  EXPECT_NE(value(huge + " + 1.5", "decimal"), "");
  EXPECT_NE(value(huge + " / 3.5", "decimal"), "");
  EXPECT_NE(value(huge + " * " + huge + "", "decimal"), "");
  EXPECT_NE(value("exp(" + huge + ")", "decimal"), "");
  EXPECT_EQ(value("(timestamp) 9223372036854775807 + 1y", "timestamp"),
            "the operation 'timestamp + duration' failed: the result is out of range");
  EXPECT_NE(value("floor((timestamp) 9223372036854775807, 1mo)", "timestamp"), "");
  EXPECT_NE(
      value("floor((timestamp) 9223372036854775807, 2d, (timestamp) -9223372036854775807)", "timestamp"), "");
  EXPECT_NE(value("floor((timestamp) 0, 178956970y7mo)", "timestamp"), "");
  EXPECT_EQ(value("(date) '2020-01-31' + 1mo", "date"), "'2020-02-29'");
  EXPECT_EQ(value("(date) '2020-03-31' - 1mo", "date"), "'2020-02-29'");
  EXPECT_EQ(value("(date) '-0001-03-31' - 13mo", "date"), "'-0002-02-28'");
}

// Every call is tested against each signature of the call around it.
TEST_F(TermTest, DeepArithmeticIsNotExponential) {
  std::string sum = "1";
  for (int i = 0; i < 60; ++i) sum = i % 2 == 0 ? "(" + sum + " + 1)" : "abs(" + sum + ")";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(value(sum, "int"), "31");
  EXPECT_EQ(value(sum, "decimal").substr(0, 2), "31");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(TermTest, WrittenTypesFollowTheRulesOfFreezing) {
  EXPECT_EQ(value("null", "list<list<int>>"),
            "Non-frozen collections are not allowed inside collections: list<list<int>>");
  EXPECT_EQ(value("null", "set<ty>"), "Non-frozen UDTs are not allowed inside collections: set<ty>");
  EXPECT_EQ(value("null", "frozen<int>"),
            "frozen<> is only allowed on collections, tuples, and user-defined types (got int)");
  EXPECT_EQ(value("null", "list<counter>"), "Counters are not allowed inside collections: list<counter>");
  EXPECT_EQ(value("null", "map<duration, int>"), "Durations are not allowed as map keys: map<duration, int>");
  EXPECT_EQ(value("null", "nope"), "Unknown type e.nope");
  EXPECT_EQ(value("null", "frozen<map<int, list<ty>>>"), "null");
}

}  // namespace
}  // namespace sibyl::plan
