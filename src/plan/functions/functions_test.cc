// Native functions: values and errors as Cassandra 5.0 returns them.
#include "plan/terms/functions.h"

#include "base/statement.h"
#include "plan/terms/term_nodes.h"
#include "plan/terms/term_text.h"
#include "plan/test_planning.h"

namespace sibyl::plan {
namespace {

struct Case {
  const char* expression;
  const char* type;
  const char* result;  // a literal, or the error
};

class FunctionsTest : public PlanningTest {
 protected:
  void check(std::span<const Case> cases) {
    for (const Case& one : cases) EXPECT_EQ(value(one.expression, one.type), one.result) << one.expression;
  }
};

TEST_F(FunctionsTest, Times) {
  const Case cases[] = {
      {"to_date((timestamp) '2020-02-29T10:20:30.456Z')", "date", "'2020-02-29'"},
      {"to_date(50554d6e-29bb-11e5-b345-feff819cdc9f)", "date", "'2015-07-14'"},
      {"to_timestamp(50554d6e-29bb-11e5-b345-feff819cdc9f)", "timestamp", "'2015-07-14T00:00:18.805Z'"},
      {"to_timestamp((date) '2020-02-29')", "timestamp", "'2020-02-29T00:00:00.000Z'"},
      {"to_unix_timestamp((timestamp) '2020-02-29T10:20:30.456Z')", "bigint", "1582971630456"},
      {"to_unix_timestamp((date) '2020-02-29')", "bigint", "1582934400000"},
      {"min_timeuuid('2020-01-01')", "timeuuid", "a747c000-2c29-11ea-8080-808080808080"},
      {"min_timeuuid(0)", "timeuuid", "13814000-1dd2-11b2-8080-808080808080"},
      {"max_timeuuid(1500000000000)", "timeuuid", "bb22e70f-683d-11e7-7f7f-7f7f7f7f7f7f"},
      {"max_timeuuid('x')", "timeuuid", "Unable to parse a date/time from 'x'"},
      {"min_timeuuid()", "timeuuid",
       "Invalid number of arguments in call to function system.min_timeuuid: 1 required but 0 provided"},
      {"min_timeuuid(null)", "timeuuid", "null"},
      {"current_timestamp()", "timestamp", "'2023-11-14T22:13:20.123Z'"},
      {"current_date(1)", "date",
       "Invalid number of arguments in call to function system.current_date: 0 required but 1 provided"},
  };
  check(cases);
}

TEST_F(FunctionsTest, Floor) {
  const Case cases[] = {
      {"floor((timestamp) '2020-02-29T10:20:30.456Z', 1mo)", "timestamp", "'2020-02-01T00:00:00.000Z'"},
      {"floor((timestamp) '2020-02-29T10:20:30.456Z', 2w)", "timestamp", "'2020-02-20T00:00:00.000Z'"},
      {"floor((timestamp) '2020-02-29T10:20:30.456Z', 90m)", "timestamp", "'2020-02-29T09:00:00.000Z'"},
      {"floor((timestamp) '2020-02-29T10:20:30.456Z', 1mo, '2019-01-15')", "timestamp",
       "'2020-02-15T00:00:00.000Z'"},
      {"floor((date) '2020-02-29', 1w)", "date", "'2020-02-27'"},
      {"floor((date) '2020-02-29', 2y)", "date", "'2020-01-01'"},
      {"floor((date) '2020-02-29', 1mo, '2019-12-31')", "date", "'2020-02-29'"},
      {"floor((time) '10:20:30.123456789', 7s)", "time", "'10:20:26.000000000'"},
      {"floor((timestamp) '2020-02-29', 1ns)", "timestamp",
       "The floor cannot be computed for the 1ns duration as precision is below 1 millisecond"},
      {"floor((timestamp) '2020-02-29', -1h)", "timestamp",
       "Negative durations are not supported by the floor function"},
      {"floor((date) '2020-02-29', 1h)", "date",
       "The floor on date values cannot be computed for the 1h duration as precision is below 1 day"},
      {"floor((time) '10:20:30', 1d)", "time",
       "For time values, the floor can only be computed for durations smaller that a day"},
      {"floor((timestamp) '2020-02-29', 1h, '2030-01-01')", "timestamp",
       "The floor function starting time is greater than the provided time"},
  };
  check(cases);
}

TEST_F(FunctionsTest, Numbers) {
  const Case cases[] = {
      {"abs((int) -9)", "int", "9"},
      {"exp((tinyint) 3)", "tinyint", "20"},
      {"log((smallint) 4)", "smallint", "1"},
      {"exp((bigint) -7)", "bigint", "0"},
      {"log10((float) 3.5)", "float", "0.54406804"},
      {"exp((double) 2.5)", "double", "12.182493960703473"},
      {"log((double) -2.5)", "double", "NaN"},
      {"exp((decimal) 2.50)", "decimal", "12.182493960703473438070175951168"},
      {"log10((decimal) 1000)", "decimal", "3.0000000000000000000000000000000"},
      {"log10((varint) 123456789012345678901)", "varint", "20"},
      {"round((double) 2.5)", "double", "3.0"},
      {"round((double) -2.5)", "double", "-2.0"},
      {"round((decimal) -2.5)", "decimal", "-3"},
      {"abs((int) null)", "int", "null"},
  };
  check(cases);
}

TEST_F(FunctionsTest, Blobs) {
  const Case cases[] = {
      {"int_as_blob(5)", "blob", "0x00000005"},
      {"double_as_blob(1.5)", "blob", "0x3ff8000000000000"},
      {"inet_as_blob('::1')", "blob", "0x00000000000000000000000000000001"},
      {"duration_as_blob(1d)", "blob", "0x000200"},
      {"varint_as_blob(-1)", "blob", "0xff"},
      {"decimal_as_blob(1.5)", "blob", "0x000000010f"},
      {"blob_as_int(0x00000009)", "int", "9"},
      {"blob_as_text(0x)", "text", "''"},
      {"blob_as_int(null)", "int", "null"},
      {"blob_as_int(0xff00ff)", "int",
       "In call to function system.blob_as_int, value 0xff00ff is not a valid binary representation for type "
       "int"},
      {"blob_as_ascii(0xff00ff)", "ascii",
       "In call to function system.blob_as_ascii, value 0xff00ff is not a valid binary representation for "
       "type "
       "ascii"},
      {"int_as_blob('x')", "blob",
       "Type error: 'x' cannot be passed as argument 0 of function system.int_as_blob of type int"},
      {"int_as_blob(1, 2)", "blob",
       "Invalid number of arguments in call to function system.int_as_blob: 1 required but 2 provided"},
  };
  check(cases);
}

// Returns the work that a step counts, in nanoseconds, up to a millisecond.
template <typename Step>
int64_t counted_work(Step step) {
  struct Recorder : base::Interrupt {
    base::Status check() const override {
      nanos += 1'000'000 + base::statement::upcoming_nanos();
      return {};
    }
    mutable int64_t nanos = 0;
  } recorder;
  EXPECT_TRUE(base::run_statement(&recorder, [&]() -> base::Status {
    step();
    return {};
  }));
  return recorder.nanos;
}

// A reactor runs a step only if the work that the step counts is short.
TEST_F(FunctionsTest, LongStepsAreCounted) {
  constexpr int64_t millisecond = 1'000'000;
  EXPECT_GE(counted_work([&] { value("mask_default((vector<float, 65536>) null)", "vector<float, 65536>"); }),
            2 * millisecond);
  const std::string text = "'" + std::string(3 << 20, 'y') + "'";
  EXPECT_GE(counted_work([&] { value("mask_inner((text) " + text + ", 1, 1)", "text"); }), 10 * millisecond);

  constexpr int32_t elements = 20'000;
  Bytes set = types::encode_int32(elements);
  for (int i = 0; i < elements; ++i) set += types::encode_int32(1) + "a";
  const MarkerTerm marker(types::set_of(types::scalar(types::Kind::text), true), 0);
  EXPECT_GE(counted_work([&] {
              const ValueView values[] = {ValueView::of(set)};
              Scratch scratch;
              EXPECT_TRUE(marker.evaluate({values, 0, {}, {}}, scratch));
            }),
            7 * millisecond);

  std::string list = "INSERT INTO t (c) VALUES ([1";
  for (int i = 0; i < 50'000; ++i) list += ", 1";
  const auto statement = cql::parse_statement(list + "])");
  ASSERT_TRUE(statement);
  const cql::Expression& expression = *std::get<cql::Insert>((*statement)->node).values[0];
  Binder binder(*schema_, "e", 0);
  const ColumnSpec receiver{"e", "t", "c", types::list_of(types::scalar(types::Kind::int_), false)};
  EXPECT_GE(counted_work([&] { (void)binder.fit(expression, receiver); }), 5 * millisecond);
  EXPECT_GE(counted_work([&] { (void)text_of(expression); }), 3 * millisecond);
}

TEST_F(FunctionsTest, Masks) {
  const Case cases[] = {
      {"mask_default((int) 5)", "int", "0"},
      {"mask_default((text) 'secret')", "text", "'****'"},
      {"mask_null((int) 5)", "int", "null"},
      {"mask_replace((int) 1, 5)", "int", "5"},
      {"mask_replace((int) 1, 'a')", "int",
       "Type error: 'a' cannot be passed as argument 1 of function system.mask_replace of type int"},
      {"mask_inner((text) 'héllo wörld', 1, 2)", "text", "'h********ld'"},
      {"mask_inner((text) 'héllo wörld', null, 2)", "text", "'*********ld'"},
      {"mask_inner((text) 'héllo wörld', 1, 2, '#')", "text", "'h########ld'"},
      {"mask_outer((text) 'héllo wörld', 1, 2)", "text", "'*éllo wör**'"},
      {"mask_outer((text) 'héllo wörld', 20, 1)", "text", "'***********'"},
      {"mask_outer((text) 'héllo', 1, 0, 'é')", "text", "'ééllo'"},
      {"mask_outer((text) 'hé', -5, 2147483647)", "text", "'**'"},
      {"mask_inner((text) 'hé', 2, 2)", "text", "'hé'"},
      {"mask_inner((text) 'hé', 0, 0, 'ö')", "text", "'öö'"},
      {"mask_inner((text) '', 1, 1)", "text", "''"},
      {"mask_inner((text) 'x', 1, 2, '##')", "text",
       "The padding argument for function system.mask_inner should be single-character, but '##' has 2 "
       "characters."},
      {"mask_inner((text) 'x')", "text",
       "Invalid number of arguments for function system.mask_inner([text|varchar|ascii], int, int, [text])"},
  };
  check(cases);
}

TEST_F(FunctionsTest, UnknownAndAmbiguousCalls) {
  const Case cases[] = {
      {"nofun(1)", "int", "Unknown function nofun called"},
      // The order of the signatures is ours. Cassandra's order varies.
      {"to_date(null)", "date",
       "Ambiguous call to function to_date (can be matched by following signatures: system.to_date : "
       "(timeuuid) -> "
       "date, system.to_date : (timestamp) -> date): use type casts to disambiguate"},
      {"to_timestamp((bigint) 5)", "timestamp",
       "Invalid call to function to_timestamp, none of its type signatures match (known type signatures: "
       "system.to_timestamp : (timeuuid) -> timestamp, system.to_timestamp : (date) -> timestamp)"},
      {"now()", "int",
       "Type error: cannot assign result of function system.now (type timeuuid) to c (type int)"},
  };
  check(cases);
}

}  // namespace
}  // namespace sibyl::plan
