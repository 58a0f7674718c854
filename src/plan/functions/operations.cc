// Arithmetic: + - * / % on numbers, dates and durations, and texts.
#include "plan/functions/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statement.h"
#include "plan/numbers/number.h"
#include "plan/terms/functions.h"
#include "types/calendar.h"
#include "types/print.h"

namespace sibyl::plan {

using types::Kind;
using types::TypePtr;

namespace {

// Larger differences would let one statement ask for gigabytes of digits.
constexpr int32_t max_scale_difference = 10'000;

base::Error operation_failure(const Function& function, std::string_view why) {
  return function_failure(
      function, fmt::format("the operation '{} {} {}' failed: {}", function.arguments[0]->cql_name(),
                            operation_symbol(function.name), function.arguments[1]->cql_name(), why));
}

base::Result<int64_t> on_integers(const Function& function, int64_t left, int64_t right) {
  // Unsigned arithmetic wraps like Java's.
  const auto a = static_cast<uint64_t>(left), b = static_cast<uint64_t>(right);
  switch (operation_symbol(function.name)) {
    case '+':
      return static_cast<int64_t>(a + b);
    case '-':
      return static_cast<int64_t>(a - b);
    case '*':
      return static_cast<int64_t>(a * b);
    default:
      break;
  }
  if (right == 0) return base::fail(operation_failure(function, "/ by zero"));
  const bool divides = operation_symbol(function.name) == '/';
  if (right == -1) return divides ? static_cast<int64_t>(0 - a) : 0;
  return divides ? left / right : left % right;
}

double on_doubles(char symbol, double left, double right) {
  switch (symbol) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      return std::fmod(left, right);
  }
}

// Refuses a product before it is computed if its minimum size is too large.
base::Status check_product(const Function& function, const BigInteger& left, const BigInteger& right) {
  const size_t limb = sizeof(uint64_t), bytes = types::byte_size(left) + types::byte_size(right);
  base::count_work(static_cast<int64_t>(types::byte_size(left) * types::byte_size(right) / 64));
  if (bytes <= types::max_number_bytes + 2 * limb) return {};
  return base::fail(operation_failure(function, "the result is out of range"));
}

base::Result<BigInteger> on_bigs(const Function& function, const BigInteger& left, const BigInteger& right) {
  switch (operation_symbol(function.name)) {
    case '+':
      return BigInteger(left + right);
    case '-':
      return BigInteger(left - right);
    case '*':
      SIBYL_TRY(check_product(function, left, right));
      return BigInteger(left * right);
    default:
      break;
  }
  if (right == 0) return base::fail(operation_failure(function, "BigInteger divide by zero"));
  types::count_division(left, right);
  return operation_symbol(function.name) == '/' ? BigInteger(left / right) : BigInteger(left % right);
}

// Java's remainder of `left` after the whole quotient. The quotient's trailing zeros affect the result's
// scale.
Decimal remainder(const Decimal& left, const Decimal& right) {
  const int32_t scale = std::max(left.scale, right.scale);
  const Decimal a = rescaled(left, scale, Rounding::half_up);
  const Decimal b = rescaled(right, scale, Rounding::half_up);
  BigInteger quotient = a.unscaled / b.unscaled;
  const int32_t preferred = left.scale - right.scale;
  int32_t quotient_scale = std::max(preferred, 0);
  if (quotient == 0) quotient_scale = preferred;
  if (quotient != 0) quotient_scale -= divide_out_tens(quotient, quotient_scale - preferred);
  return rescaled({a.unscaled % b.unscaled, scale}, std::max(left.scale, quotient_scale + right.scale),
                  Rounding::half_up);
}

// A zero takes any scale that is in range.
base::Result<Decimal> product(const Function& function, const Decimal& left, const Decimal& right) {
  constexpr int64_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
  const int64_t scale = int64_t{left.scale} + right.scale;
  SIBYL_TRY(check_product(function, left.unscaled, right.unscaled));
  BigInteger unscaled = left.unscaled * right.unscaled;
  if ((scale < least || scale > most) && unscaled != 0)
    return base::fail(operation_failure(function, "the result is out of range"));
  return Decimal{std::move(unscaled), static_cast<int32_t>(std::clamp(scale, least, most))};
}

base::Result<Decimal> on_decimals(const Function& function, const Decimal& left, const Decimal& right) {
  if (operation_symbol(function.name) == '*') return product(function, left, right);
  const int64_t difference = int64_t{left.scale} - right.scale;
  if (difference > max_scale_difference || difference < -max_scale_difference)
    return base::fail(operation_failure(function, "the operands' scales are too far apart"));
  switch (operation_symbol(function.name)) {
    case '+':
      return add(left, right);
    case '-':
      return subtract(left, right);
    case '/': {
      if (right.unscaled == 0) return base::fail(operation_failure(function, "BigInteger divide by zero"));
      constexpr int32_t min_digits = 32, max_scale = 1000;
      const auto first_digit =
          static_cast<int32_t>(precision_of(left.unscaled) - precision_of(right.unscaled) - difference);
      const int32_t scale =
          std::min(std::max({min_digits - first_digit, left.scale, right.scale, min_digits}), max_scale);
      // The division needs this many digits more than its operands have.
      if (int64_t{scale} - difference > max_scale_difference)
        return base::fail(operation_failure(function, "the result is out of range"));
      return strip_trailing_zeros(divide(left, right, scale, Rounding::half_up));
    }
    default: {
      if (right.unscaled == 0)
        return base::fail(
            operation_failure(function, left.unscaled == 0 ? "Division undefined" : "Division by zero"));
      return remainder(left, right);
    }
  }
}

// Cassandra converts all numbers except varints to decimals through double: a small integer gets one digit
// after the point, a large one as many as its text has.
base::Result<Decimal> operand(const Function& function, const Number& number) {
  if (number.form == Number::Form::floating && !std::isfinite(number.floating))
    return base::fail(operation_failure(
        function, std::isnan(number.floating) ? "A NaN cannot be converted into a decimal"
                                              : "An infinite number cannot be converted into a decimal"));
  const bool is_integer = number.form == Number::Form::integer;
  Number copy = is_integer ? number_of(static_cast<double>(number.integer)) : number;
  copy.is_single = false;
  return copy.to_decimal();
}

base::Result<ValueView> numeric(const Function& function, std::span<const ValueView> arguments,
                                const Bindings&, Scratch& scratch) {
  const Number left = read_number(function.arguments[0]->kind(), arguments[0].bytes);
  const Number right = read_number(function.arguments[1]->kind(), arguments[1].bytes);
  Number result;
  switch (function.returns->kind()) {
    case Kind::float_: {
      const auto a = static_cast<float>(left.to_double()), b = static_cast<float>(right.to_double());
      result = number_of(on_doubles(operation_symbol(function.name), a, b));
      break;
    }
    case Kind::double_:
      result = number_of(on_doubles(operation_symbol(function.name), left.to_double(), right.to_double()));
      break;
    case Kind::varint: {
      SIBYL_ASSIGN(BigInteger value, on_bigs(function, left.to_big(), right.to_big()));
      result = number_of(std::move(value));
      break;
    }
    case Kind::decimal: {
      SIBYL_ASSIGN(const Decimal a, operand(function, left));
      SIBYL_ASSIGN(const Decimal b, operand(function, right));
      SIBYL_ASSIGN(Decimal value, on_decimals(function, a, b));
      result = number_of(std::move(value));
      break;
    }
    default: {
      SIBYL_ASSIGN(const int64_t value, on_integers(function, left.to_int64(), right.to_int64()));
      result = number_of(value);
    }
  }
  if (!check_number_size(result))
    return base::fail(operation_failure(function, "the result is out of range"));
  SIBYL_ASSIGN(Bytes bytes, write_number(function.returns->kind(), result));
  return kept(scratch, std::move(bytes));
}

base::Result<ValueView> negate(const Function& function, std::span<const ValueView> arguments,
                               const Bindings&, Scratch& scratch) {
  Number number = read_number(function.arguments[0]->kind(), arguments[0].bytes);
  number.integer = static_cast<int64_t>(0 - static_cast<uint64_t>(number.integer));
  number.floating = -number.floating;
  number.decimal.unscaled = -number.decimal.unscaled;
  SIBYL_ASSIGN(Bytes bytes, write_number(function.returns->kind(), number));
  return kept(scratch, std::move(bytes));
}

base::Result<ValueView> concatenate(const Function&, std::span<const ValueView> arguments, const Bindings&,
                                    Scratch& scratch) {
  Bytes both(arguments[0].bytes);
  both.append(arguments[1].bytes);
  return kept(scratch, std::move(both));
}

// Adds a duration to a timestamp or date: months by the calendar (days of the month clamped), then days, then
// time.
base::Result<ValueView> move_time(const Function& function, std::span<const ValueView> arguments,
                                  const Bindings&, Scratch& scratch) {
  const bool is_date = function.returns->kind() == Kind::date;
  types::Duration by = types::decode_duration(arguments[1].bytes);
  if (is_date && by.nanoseconds != 0)
    return base::fail(operation_failure(
        function, "The duration must have a day precision. Was: " + types::format_duration(by)));
  if (!is_date && by.nanoseconds % 1'000'000 != 0)
    return base::fail(operation_failure(
        function, "The duration must have a millisecond precision. Was: " + types::format_duration(by)));
  const int64_t sign = operation_symbol(function.name) == '-' ? -1 : 1;
  const int64_t from = is_date ? int64_t{types::decode_date(arguments[0].bytes)} * types::millis_per_day
                               : types::decode_integer(Kind::timestamp, arguments[0].bytes);
  const int64_t more = sign * (by.days * types::millis_per_day + by.nanoseconds / 1'000'000);
  const auto result = types::add_time(from, sign * by.months, more);
  const int64_t days = result ? types::floor_divide(*result, types::millis_per_day) : 0;
  if (!result || (is_date && (days < INT32_MIN || days > INT32_MAX)))
    return base::fail(operation_failure(function, "the result is out of range"));
  return kept(scratch,
              is_date ? types::encode_date(static_cast<int32_t>(days)) : types::encode_int64(*result));
}

int size_of(Kind kind) {
  switch (kind) {
    case Kind::tinyint:
      return 1;
    case Kind::smallint:
      return 2;
    case Kind::int_:
    case Kind::float_:
      return 4;
    case Kind::bigint:
    case Kind::counter:
    case Kind::double_:
      return 8;
    default:
      return 1000;
  }
}

Kind result_kind(Kind left, Kind right) {
  const auto is_floating = [](Kind kind) {
    return kind == Kind::float_ || kind == Kind::double_ || kind == Kind::decimal;
  };
  const int size = std::max(size_of(left), size_of(right));
  if (is_floating(left) || is_floating(right)) {
    if (size <= 4) return Kind::float_;
    return size == 8 ? Kind::double_ : Kind::decimal;
  }
  switch (size) {
    case 1:
      return Kind::tinyint;
    case 2:
      return Kind::smallint;
    case 4:
      return Kind::int_;
    case 8:
      return Kind::bigint;
    default:
      return Kind::varint;
  }
}

void add_binary(FunctionRegistry& registry, const char* name, Kind returns, Kind left, Kind right,
                Function::Evaluate evaluate) {
  Function function;
  function.name = name;
  function.returns = types::scalar(returns);
  function.arguments = {types::scalar(left), types::scalar(right)};
  function.evaluate = evaluate;
  registry.add(std::move(function));
}

}  // namespace

void add_operations(FunctionRegistry& registry) {
  static constexpr Kind numeric_kinds[] = {Kind::tinyint, Kind::smallint, Kind::int_,
                                           Kind::bigint,  Kind::float_,   Kind::double_,
                                           Kind::decimal, Kind::varint,   Kind::counter};
  for (const char* name : {"_add", "_substract", "_multiply", "_divide", "_modulo"})
    for (const Kind left : numeric_kinds)
      for (const Kind right : numeric_kinds)
        add_binary(registry, name, result_kind(left, right), left, right, numeric);
  for (const Kind kind : numeric_kinds) {
    Function function;
    function.name = negation_name;
    function.returns = types::scalar(kind);
    function.arguments = {types::scalar(kind)};
    function.evaluate = negate;
    registry.add(std::move(function));
  }
  for (const char* name : {"_add", "_substract"})
    for (const Kind kind : {Kind::timestamp, Kind::date})
      add_binary(registry, name, kind, kind, Kind::duration, move_time);
  add_binary(registry, "_add", Kind::text, Kind::text, Kind::text, concatenate);
  add_binary(registry, "_add", Kind::ascii, Kind::ascii, Kind::ascii, concatenate);
  add_binary(registry, "_add", Kind::text, Kind::ascii, Kind::text, concatenate);
  add_binary(registry, "_add", Kind::text, Kind::text, Kind::ascii, concatenate);
}

}  // namespace sibyl::plan
