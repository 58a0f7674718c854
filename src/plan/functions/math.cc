// abs, exp, log, log10, round.
#include "plan/functions/math.h"

#include <algorithm>
#include <boost/multiprecision/cpp_dec_float.hpp>
#include <cmath>
#include <cstdint>

#include "base/statement.h"
#include "plan/numbers/number.h"
#include "plan/terms/functions.h"
#include "types/literals/literal_number.h"
#include "types/print.h"

namespace sibyl::plan {

using types::Kind;

namespace {

using Precise = boost::multiprecision::number<boost::multiprecision::cpp_dec_float<64>>;

constexpr int significant_digits = 32;
constexpr int32_t max_zeros = 100'000;
constexpr int64_t nanos_of_logarithm = 100'000;

base::Result<Decimal> decimal_of(const Precise& value) {
  SIBYL_ASSIGN(const Bytes bytes,
               types::parse_decimal(value.str(significant_digits - 1, std::ios_base::scientific)));
  Decimal decimal;
  types::decode_decimal(bytes, decimal.unscaled, decimal.scale);
  return decimal;
}

// For numbers beyond the exponents of Precise. REQUIRES: `leading` is short and not zero.
base::Result<Decimal> on_far_decimal(const Function& function, const Decimal& leading) {
  if (function.name == "exp") {
    if (leading.scale < 0) return base::invalid("The result of exp is too large");
    return decimal_of(Precise(1));
  }
  if (leading.unscaled < 0)
    return base::invalid(function.name == "log" ? "Natural log of number zero or less"
                                                : "Log10 of number zero or less");
  const Precise digits(leading.unscaled.str()), ten(10), scale(leading.scale);
  return decimal_of(function.name == "log" ? Precise(log(digits) - scale * log(ten))
                                           : Precise(log10(digits) - scale));
}

// Decimals have no largest value, but the result of exp may have too many digits to be stored.
base::Result<Decimal> on_decimal(const Function& function, const Decimal& input) {
  constexpr int32_t enough = 80;  // more digits than Precise has
  const Decimal leading = leading_digits(input, enough);
  const std::string text = types::format_decimal(types::encode_decimal(leading.unscaled, leading.scale));
  base::count_work(nanos_of_logarithm);
  constexpr int32_t far = 1'000'000;
  if (leading.unscaled != 0 && (leading.scale > far || leading.scale < -far))
    return on_far_decimal(function, leading);
  const Precise value(text);
  // Like Cassandra's library, results that are exact have no digits after the point.
  if (function.name == "exp" && value == 0) return Decimal{1, 0};
  if (function.name == "log" && value == 1) return Decimal{0, 0};
  if (function.name == "log10" && value == 1) return Decimal{0, -significant_digits - 1};
  Precise result;
  if (function.name == "exp") {
    if (abs(value) > 100'000) return base::invalid("The result of exp is too large");
    result = exp(value);
  } else if (value <= 0) {
    return base::invalid(function.name == "log" ? "Natural log of number zero or less"
                                                : "Log10 of number zero or less");
  } else {
    result = function.name == "log" ? Precise(log(value)) : Precise(log10(value));
  }
  return decimal_of(result);
}

double on_double(const Function& function, double value) {
  if (function.name == "exp") return std::exp(value);
  if (function.name == "log") return std::log(value);
  if (function.name == "log10") return std::log10(value);
  return value;
}

// Java's rounding: halves round up, and the result is converted to an integer, which saturates.
double round_half_up(double value, bool is_single) {
  if (std::isnan(value)) return 0;
  const double floor = std::floor(value);
  const double rounded = value - floor >= 0.5 ? floor + 1 : floor;
  const double least = is_single ? INT32_MIN : static_cast<double>(INT64_MIN);
  const double most = is_single ? INT32_MAX : static_cast<double>(INT64_MAX);
  return std::min(std::max(rounded, least), most) + 0.0;  // avoids -0
}

base::Result<ValueView> absolute(const Function& function, std::span<const ValueView> arguments,
                                 const Bindings&, Scratch& scratch) {
  Number number = read_number(function.arguments[0]->kind(), arguments[0].bytes);
  if (number.integer < 0) number.integer = static_cast<int64_t>(0 - static_cast<uint64_t>(number.integer));
  number.floating = std::fabs(number.floating);
  if (number.decimal.unscaled < 0) number.decimal.unscaled = -number.decimal.unscaled;
  SIBYL_ASSIGN(Bytes bytes, write_number(function.returns->kind(), number));
  return kept(scratch, std::move(bytes));
}

base::Result<ValueView> compute(const Function& function, std::span<const ValueView> arguments,
                                const Bindings&, Scratch& scratch) {
  const Kind kind = function.arguments[0]->kind();
  const Number number = read_number(kind, arguments[0].bytes);
  const bool rounds = function.name == "round";
  const bool is_big = kind == Kind::decimal || kind == Kind::varint;
  Number result;
  if (is_big && rounds) {
    SIBYL_ASSIGN(const Decimal decimal, number.to_decimal());
    if (decimal.scale < -max_zeros) return base::invalid("The result of round is too large");
    const bool is_zero = decimal.scale > precision_of(decimal.unscaled) + 1;
    result = number_of(is_zero ? Decimal{} : rescaled(decimal, 0, Rounding::half_up));
  } else if (is_big) {
    SIBYL_ASSIGN(const Decimal decimal, number.to_decimal());
    SIBYL_ASSIGN(Decimal computed, on_decimal(function, decimal));
    result = number_of(std::move(computed));
  } else if (rounds && number.form == Number::Form::integer) {
    return arguments[0];
  } else if (rounds) {
    result = number_of(round_half_up(number.to_double(), kind == Kind::float_));
  } else {
    result = number_of(on_double(function, number.to_double()));
  }
  SIBYL_ASSIGN(Bytes bytes, write_number(kind, result));
  return kept(scratch, std::move(bytes));
}

}  // namespace

void add_math_functions(FunctionRegistry& registry) {
  for (const char* name : {"abs", "exp", "log", "log10", "round"})
    for (const Kind kind : {Kind::tinyint, Kind::smallint, Kind::int_, Kind::float_, Kind::bigint,
                            Kind::double_, Kind::varint, Kind::decimal, Kind::counter}) {
      Function function;
      function.name = name;
      function.arguments = {types::scalar(kind)};
      function.returns = types::scalar(kind);
      function.evaluate = function.name == "abs" ? absolute : compute;
      registry.add(std::move(function));
    }
}

}  // namespace sibyl::plan
