#include "plan/numbers/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "types/literals/literal.h"
#include "types/literals/literal_number.h"
#include "types/print.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

bool is_numeric(Kind kind) {
  switch (kind) {
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
    case Kind::float_:
    case Kind::double_:
    case Kind::decimal:
    case Kind::varint:
      return true;
    default:
      return false;
  }
}

Number number_of(int64_t integer) {
  Number number;
  number.integer = integer;
  return number;
}
Number number_of(double floating) {
  Number number;
  number.form = Number::Form::floating;
  number.floating = floating;
  return number;
}
Number number_of(BigInteger big) {
  Number number;
  number.form = Number::Form::big;
  number.decimal.unscaled = std::move(big);
  return number;
}
Number number_of(Decimal decimal) {
  Number number;
  number.form = Number::Form::decimal;
  number.decimal = std::move(decimal);
  return number;
}

Number read_number(Kind kind, base::BytesView bytes) {
  switch (kind) {
    case Kind::float_: {
      Number number = number_of(double{types::decode_float(bytes)});
      number.is_single = true;
      return number;
    }
    case Kind::double_:
      return number_of(types::decode_double(bytes));
    case Kind::varint:
      return number_of(types::decode_varint(bytes));
    case Kind::decimal: {
      Decimal decimal;
      types::decode_decimal(bytes, decimal.unscaled, decimal.scale);
      return number_of(std::move(decimal));
    }
    default:
      return number_of(types::decode_integer(kind, bytes));
  }
}

namespace {

int64_t saturated(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

int32_t saturated_int(double value) {
  return static_cast<int32_t>(std::clamp<int64_t>(saturated(value), std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// The low 64 bits in two's complement, like BigInteger.longValue().
int64_t low_bits(const BigInteger& value) {
  const BigInteger mask = std::numeric_limits<uint64_t>::max();
  const BigInteger magnitude = boost::multiprecision::abs(value);
  const auto low = static_cast<uint64_t>(magnitude & mask);
  return static_cast<int64_t>(value < 0 ? ~low + 1 : low);
}

double double_of(const Decimal& decimal) {
  constexpr int32_t enough = 800;  // later digits never change the nearest double
  const Decimal leading = leading_digits(decimal, enough);
  base::Bytes bytes = types::encode_decimal(leading.unscaled, leading.scale);
  const auto parsed = types::from_string(*types::scalar(Kind::double_), types::format_decimal(bytes));
  return parsed ? types::decode_double(*parsed) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

namespace {
// With a smaller scale than all_zeros the low 64 bits are all zero. With a larger one than all_fraction any
// number that fits in memory has no integer part.
constexpr int32_t all_zeros = -64, all_fraction = 200'000;
}  // namespace

int64_t Number::to_int64() const {
  if (form == Form::decimal && decimal.scale < all_zeros) return 0;
  switch (form) {
    case Form::integer:
      return integer;
    case Form::floating:
      return saturated(floating);
    default:
      return low_bits(to_big());
  }
}

double Number::to_double() const {
  switch (form) {
    case Form::integer:
      return static_cast<double>(integer);
    case Form::floating:
      return floating;
    default:
      return double_of(decimal);
  }
}

BigInteger Number::to_big() const {
  switch (form) {
    case Form::integer:
      return integer;
    case Form::floating:
      return saturated(floating);
    case Form::big:
      return decimal.unscaled;
    case Form::decimal:
      if (decimal.scale > all_fraction || decimal.scale < -all_fraction) return 0;
      return decimal.scale >= 0
                 ? BigInteger(decimal.unscaled / power_of_ten(static_cast<uint32_t>(decimal.scale)))
                 : BigInteger(decimal.unscaled * power_of_ten(static_cast<uint32_t>(-decimal.scale)));
  }
  return 0;
}

base::Result<Decimal> Number::to_decimal() const {
  switch (form) {
    case Form::integer:
      return Decimal{integer, 0};
    case Form::floating: {
      if (!std::isfinite(floating))
        return invalid(is_single ? "A " + types::format_float(static_cast<float>(floating)) +
                                       " float cannot be converted into a decimal"
                                 : "A " + types::format_double(floating) +
                                       " double cannot be converted into a decimal");
      const std::string text =
          is_single ? types::format_float(static_cast<float>(floating)) : types::format_double(floating);
      SIBYL_ASSIGN(const base::Bytes bytes, types::parse_decimal(text));
      Decimal result;
      types::decode_decimal(bytes, result.unscaled, result.scale);
      return result;
    }
    default:
      return decimal;
  }
}

base::Result<base::Bytes> write_number(Kind kind, const Number& number) {
  const bool floating = number.form == Number::Form::floating;
  switch (kind) {
    // Java narrows floating point through int.
    case Kind::tinyint:
      return types::encode_int8(
          static_cast<int8_t>(floating ? saturated_int(number.floating) : number.to_int64()));
    case Kind::smallint:
      return types::encode_int16(
          static_cast<int16_t>(floating ? saturated_int(number.floating) : number.to_int64()));
    case Kind::int_:
      return types::encode_int32(floating ? saturated_int(number.floating)
                                          : static_cast<int32_t>(number.to_int64()));
    case Kind::float_:
      return types::encode_float(static_cast<float>(number.to_double()));
    case Kind::double_:
      return types::encode_double(number.to_double());
    case Kind::varint: {
      BigInteger value = number.to_big();
      SIBYL_TRY(check_number_size(number_of(value)));
      return types::encode_varint(value);
    }
    case Kind::decimal: {
      SIBYL_ASSIGN(const Decimal decimal, number.to_decimal());
      SIBYL_TRY(check_number_size(number_of(decimal)));
      return types::encode_decimal(decimal.unscaled, decimal.scale);
    }
    default:
      return types::encode_int64(number.to_int64());
  }
}

int32_t divide_out_tens(BigInteger& value, int32_t max_times) {
  if (value == 0 || max_times <= 0) return 0;
  // The number of factors of two is an upper bound for the number of tens. Tries the largest power of ten
  // that may fit, then the power with half of its exponent, and so on.
  const BigInteger magnitude = boost::multiprecision::abs(value);
  max_times = static_cast<int32_t>(
      std::min<uint64_t>(static_cast<uint64_t>(max_times), boost::multiprecision::lsb(magnitude)));
  int32_t divided = 0;
  for (auto step = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(max_times))); step > 0;
       step /= 2) {
    if (divided + step > max_times) continue;
    const BigInteger divisor = power_of_ten(static_cast<uint32_t>(step));
    BigInteger quotient, rest;
    types::count_division(value, divisor);
    boost::multiprecision::divide_qr(value, divisor, quotient, rest);
    if (rest != 0) continue;
    value = std::move(quotient);
    divided += step;
  }
  return divided;
}

Decimal strip_trailing_zeros(Decimal decimal) {
  if (decimal.unscaled == 0) return {0, 0};
  decimal.scale -= divide_out_tens(decimal.unscaled, std::numeric_limits<int32_t>::max());
  return decimal;
}

int precision_of(const BigInteger& unscaled) {
  return static_cast<int>(types::count_digits(BigInteger(boost::multiprecision::abs(unscaled))));
}

Decimal leading_digits(const Decimal& value, int32_t digits) {
  const int32_t dropped = precision_of(value.unscaled) - digits;
  const int64_t scale = int64_t{value.scale} - dropped;
  if (dropped <= 0 || scale < std::numeric_limits<int32_t>::min()) return value;
  const BigInteger divisor = power_of_ten(static_cast<uint32_t>(dropped));
  BigInteger quotient, rest;
  types::count_division(value.unscaled, divisor);
  boost::multiprecision::divide_qr(value.unscaled, divisor, quotient, rest);
  if (rest == 0 || scale == std::numeric_limits<int32_t>::max())
    return {std::move(quotient), static_cast<int32_t>(scale)};
  // One extra digit stands for everything that is cut off.
  return {BigInteger(quotient * 10 + (rest < 0 ? -1 : 1)), static_cast<int32_t>(scale + 1)};
}

base::Status check_number_size(const Number& number) {
  const BigInteger& value = number.decimal.unscaled;
  if (value == 0) return {};
  // The sign bit is included.
  const size_t bits = boost::multiprecision::msb(BigInteger(boost::multiprecision::abs(value))) + 2;
  if (bits <= types::max_number_bytes * 8) return {};
  return invalid(fmt::format("A number may have at most {} bytes", types::max_number_bytes));
}

namespace {
// numerator / denominator, rounded.
BigInteger rounded_quotient(const BigInteger& numerator, const BigInteger& denominator, Rounding rounding) {
  BigInteger quotient, remainder;
  types::count_division(numerator, denominator);
  boost::multiprecision::divide_qr(numerator, denominator, quotient, remainder);
  const BigInteger twice = BigInteger(boost::multiprecision::abs(remainder)) * 2;
  const BigInteger magnitude = boost::multiprecision::abs(denominator);
  const bool up =
      twice > magnitude || (twice == magnitude && (rounding == Rounding::half_up || quotient % 2 != 0));
  if (up) quotient += (numerator < 0) != (denominator < 0) ? -1 : 1;
  return quotient;
}
}  // namespace

Decimal divide(const Decimal& left, const Decimal& right, int32_t scale, Rounding rounding) {
  // left.unscaled * 10^-left.scale / (right.unscaled * 10^-right.scale) * 10^scale
  const int64_t shift = int64_t{scale} - left.scale + right.scale;
  BigInteger numerator = left.unscaled, denominator = right.unscaled;
  if (shift >= 0)
    numerator *= power_of_ten(static_cast<uint32_t>(shift));
  else
    denominator *= power_of_ten(static_cast<uint32_t>(-shift));
  return {rounded_quotient(numerator, denominator, rounding), scale};
}

Decimal rescaled(const Decimal& value, int32_t scale, Rounding rounding) {
  return divide(value, {1, 0}, scale, rounding);
}

namespace {
template <typename Combine>
Decimal aligned(const Decimal& left, const Decimal& right, Combine combine) {
  const int32_t scale = std::max(left.scale, right.scale);
  const BigInteger a = left.unscaled * power_of_ten(static_cast<uint32_t>(scale - left.scale));
  const BigInteger b = right.unscaled * power_of_ten(static_cast<uint32_t>(scale - right.scale));
  return {combine(a, b), scale};
}
}  // namespace

Decimal add(const Decimal& left, const Decimal& right) {
  return aligned(left, right, [](const BigInteger& a, const BigInteger& b) { return BigInteger(a + b); });
}
Decimal subtract(const Decimal& left, const Decimal& right) {
  return aligned(left, right, [](const BigInteger& a, const BigInteger& b) { return BigInteger(a - b); });
}

}  // namespace sibyl::plan
