// CAST, and arithmetic on values of mixed types.
#include "plan/functions/cast.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/terms/functions.h"
#include "types/literals/literal.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

using types::Kind;

// The result of the function of this name for the types of the arguments, as a literal; or the error.
std::string called(const std::string& name, std::span<const std::pair<Kind, std::string_view>> arguments) {
  const FunctionEntry* entry = FunctionRegistry::instance().find(name);
  if (entry == nullptr) return "no function " + name;
  std::vector<Bytes> bytes;
  for (const auto& [kind, text] : arguments) {
    const auto parsed = types::from_string(*types::scalar(kind), text);
    if (!parsed) return "bad argument: " + parsed.error().message();
    bytes.push_back(*parsed);
  }
  std::vector<ValueView> values;
  for (const Bytes& one : bytes) values.push_back(ValueView::of(one));
  for (const FunctionPtr& function : entry->functions) {
    bool fits = function->arguments.size() == arguments.size();
    for (size_t i = 0; fits && i < arguments.size(); ++i)
      fits = function->arguments[i]->kind() == arguments[i].first;
    if (!fits) continue;
    Scratch scratch;
    const auto result = function->evaluate(*function, values, {}, scratch);
    return result ? types::to_literal(*function->returns, result->bytes)
                  : std::string(result.error().message());
  }
  return "no signature";
}

std::string cast(Kind from, std::string_view text, Kind to) {
  const std::pair<Kind, std::string_view> argument(from, text);
  return called(cast_name(*types::scalar(to)), std::span(&argument, 1));
}

TEST(Casts, BetweenNumbersFollowJava) {
  const struct {
    Kind from;
    std::string_view text;
    Kind to;
    std::string_view result;
  } cases[] = {
      {Kind::int_, "300", Kind::tinyint, "44"},
      {Kind::bigint, "-9223372036854775808", Kind::int_, "0"},
      {Kind::double_, "1e20", Kind::bigint, "9223372036854775807"},
      {Kind::double_, "-1.9", Kind::int_, "-1"},
      {Kind::double_, "NaN", Kind::int_, "0"},
      {Kind::double_, "1e20", Kind::varint, "9223372036854775807"},
      {Kind::float_, "1.1", Kind::double_, "1.100000023841858"},
      {Kind::float_, "1.1", Kind::decimal, "1.1"},
      {Kind::double_, "NaN", Kind::decimal, "A NaN double cannot be converted into a decimal"},
      {Kind::decimal, "1e30", Kind::varint, "5076944270305263616"},
      {Kind::varint, "18446744073709551617", Kind::bigint, "1"},
      {Kind::varint, "123", Kind::float_, "123.0"},
      {Kind::int_, "1", Kind::int_, "no signature"},
  };
  for (const auto& one : cases) EXPECT_EQ(cast(one.from, one.text, one.to), one.result) << one.text;
}

TEST(Casts, ToTextAndBetweenTimes) {
  const struct {
    Kind from;
    std::string_view text;
    Kind to;
    std::string_view result;
  } cases[] = {
      {Kind::int_, "-5", Kind::text, "'-5'"},
      {Kind::double_, "1e7", Kind::text, "'1.0E7'"},
      {Kind::decimal, "1.50", Kind::ascii, "'1.50'"},
      {Kind::boolean, "TRUE", Kind::text, "'true'"},
      {Kind::ascii, "it", Kind::text, "'it'"},
      {Kind::inet, "::1", Kind::text, "'0:0:0:0:0:0:0:1'"},
      {Kind::timestamp, "1582971630456", Kind::text, "'2020-02-29T10:20:30.456Z'"},
      {Kind::date, "2020-02-29", Kind::text, "'2020-02-29'"},
      {Kind::time, "10:20:30", Kind::text, "'10:20:30.000000000'"},
      {Kind::uuid, "5a1c395e-b41f-41e5-9f22-ba0be0483c18", Kind::text,
       "'5a1c395e-b41f-41e5-9f22-ba0be0483c18'"},
      {Kind::timeuuid, "50554d6e-29bb-11e5-b345-feff819cdc9f", Kind::timestamp, "'2015-07-14T00:00:18.805Z'"},
      {Kind::timeuuid, "50554d6e-29bb-11e5-b345-feff819cdc9f", Kind::date, "'2015-07-14'"},
      {Kind::date, "2020-02-29", Kind::timestamp, "'2020-02-29T00:00:00.000Z'"},
      {Kind::timestamp, "1582971630456", Kind::date, "'2020-02-29'"},
      {Kind::timestamp, "-1", Kind::date, "'1970-01-01'"},
      {Kind::text, "5", Kind::int_, "no signature"},
      {Kind::blob, "0x00", Kind::text, "no signature"},
  };
  for (const auto& one : cases) EXPECT_EQ(cast(one.from, one.text, one.to), one.result) << one.text;
}

TEST(Operations, OnNumbersOfMixedTypes) {
  const struct {
    const char* name;
    std::pair<Kind, std::string_view> left, right;
    std::string_view result;
  } cases[] = {
      // The result has the wider integer type, and wraps.
      {"_add", {Kind::tinyint, "127"}, {Kind::tinyint, "1"}, "-128"},
      {"_add", {Kind::tinyint, "127"}, {Kind::smallint, "1"}, "128"},
      {"_multiply", {Kind::bigint, "9223372036854775807"}, {Kind::int_, "2"}, "-2"},
      {"_multiply", {Kind::bigint, "9223372036854775807"}, {Kind::varint, "2"}, "18446744073709551614"},
      {"_divide", {Kind::int_, "-2147483648"}, {Kind::int_, "-1"}, "-2147483648"},
      {"_modulo", {Kind::int_, "-2147483648"}, {Kind::int_, "-1"}, "0"},
      {"_divide", {Kind::int_, "-7"}, {Kind::int_, "2"}, "-3"},
      {"_modulo", {Kind::int_, "-7"}, {Kind::int_, "2"}, "-1"},
      {"_modulo", {Kind::bigint, "1"}, {Kind::int_, "0"}, "the operation 'bigint % int' failed: / by zero"},
      {"_divide",
       {Kind::varint, "1"},
       {Kind::varint, "0"},
       "the operation 'varint / varint' failed: BigInteger divide by zero"},
      // A float with a small integer gives a float; with a large integer it gives a double.
      {"_add", {Kind::float_, "0.1"}, {Kind::int_, "1"}, "1.1"},
      {"_add", {Kind::float_, "0.5"}, {Kind::bigint, "1"}, "1.5"},
      {"_divide", {Kind::double_, "1"}, {Kind::int_, "0"}, "Infinity"},
      {"_modulo", {Kind::double_, "-7.5"}, {Kind::double_, "2"}, "-1.5"},
      // As a decimal, a small integer has one digit after the point, as in Cassandra.
      {"_add", {Kind::decimal, "1"}, {Kind::int_, "1"}, "2.0"},
      {"_multiply", {Kind::decimal, "1.10"}, {Kind::decimal, "2.0"}, "2.200"},
      {"_divide", {Kind::decimal, "1"}, {Kind::decimal, "3"}, "0.33333333333333333333333333333333"},
      {"_divide", {Kind::decimal, "10.00"}, {Kind::decimal, "5"}, "2"},
      {"_divide",
       {Kind::decimal, "1"},
       {Kind::decimal, "0"},
       "the operation 'decimal / decimal' failed: BigInteger divide by zero"},
      {"_modulo",
       {Kind::decimal, "1"},
       {Kind::decimal, "0"},
       "the operation 'decimal % decimal' failed: Division by zero"},
      {"_modulo",
       {Kind::decimal, "0"},
       {Kind::decimal, "0"},
       "the operation 'decimal % decimal' failed: Division undefined"},
      {"_modulo", {Kind::decimal, "7.25"}, {Kind::decimal, "2"}, "1.25"},
      {"_add",
       {Kind::decimal, "1"},
       {Kind::double_, "NaN"},
       "the operation 'decimal + double' failed: A NaN cannot be converted into a decimal"},
      {"_add",
       {Kind::decimal, "1e20000"},
       {Kind::decimal, "1"},
       "the operation 'decimal + decimal' failed: the operands' scales are too far apart"},
  };
  for (const auto& one : cases) {
    const std::pair<Kind, std::string_view> both[] = {one.left, one.right};
    EXPECT_EQ(called(one.name, both), one.result)
        << one.name << " " << one.left.second << " " << one.right.second;
  }
}

TEST(Operations, OnTimesTextsAndSigns) {
  const struct {
    const char* name;
    std::vector<std::pair<Kind, std::string_view>> arguments;
    std::string_view result;
  } cases[] = {
      {"_add", {{Kind::timestamp, "1580428800000"}, {Kind::duration, "1mo"}}, "'2020-02-29T00:00:00.000Z'"},
      {"_substract", {{Kind::timestamp, "0"}, {Kind::duration, "1d1ms"}}, "'1969-12-30T23:59:59.999Z'"},
      {"_add",
       {{Kind::timestamp, "0"}, {Kind::duration, "1us"}},
       "the operation 'timestamp + duration' failed: The duration must have a millisecond precision. Was: "
       "1us"},
      {"_add",
       {{Kind::date, "2020-02-29"}, {Kind::duration, "1h"}},
       "the operation 'date + duration' failed: The duration must have a day precision. Was: 1h"},
      {"_substract", {{Kind::date, "2020-02-29"}, {Kind::duration, "1y"}}, "'2019-02-28'"},
      {"_add", {{Kind::text, "a"}, {Kind::ascii, "b"}}, "'ab'"},
      {"_substract", {{Kind::text, "a"}, {Kind::text, "b"}}, "no signature"},
      {"_negate", {{Kind::tinyint, "-128"}}, "-128"},
      {"_negate", {{Kind::decimal, "1.50"}}, "-1.50"},
      {"_negate", {{Kind::varint, "-18446744073709551616"}}, "18446744073709551616"},
  };
  for (const auto& one : cases) EXPECT_EQ(called(one.name, one.arguments), one.result) << one.name;
}

}  // namespace
}  // namespace sibyl::plan
