// Numbers of any CQL type, with Java's rules: integers wrap, and floating point saturates when converted to
// an integer. Includes big integers: for .cc files only.
#pragma once

#include "base/result.h"
#include "types/number.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::plan {

using types::BigInteger;

struct Decimal {
  BigInteger unscaled;
  int32_t scale = 0;  // the value is unscaled * 10^-scale
};

struct Number {
  enum class Form { integer, floating, big, decimal };
  Form form = Form::integer;
  int64_t integer = 0;
  double floating = 0;
  bool is_single = false;  // floating: the type is float
  Decimal decimal;         // big: scale 0

  int64_t to_int64() const;  // Java's longValue()
  double to_double() const;
  BigInteger to_big() const;                 // rounds toward zero
  base::Result<Decimal> to_decimal() const;  // NaN and infinities are errors
};

bool is_numeric(types::Kind kind);  // including counter
// REQUIRES: validated, non-empty bytes.
Number read_number(types::Kind kind, base::BytesView bytes);
base::Result<base::Bytes> write_number(types::Kind kind, const Number& number);

Number number_of(int64_t integer);
Number number_of(double floating);
Number number_of(BigInteger big);
Number number_of(Decimal decimal);

using types::power_of_ten;
Decimal strip_trailing_zeros(Decimal decimal);
// Divides by ten while there is no remainder, at most `max_times` times. Returns the number of divisions.
int32_t divide_out_tens(BigInteger& value, int32_t max_times);
int precision_of(const BigInteger& unscaled);  // decimal digits; 1 for zero
// Cuts the number to this many digits. If it cuts off anything, it appends one digit, so that the result is
// not equal to the shorter number.
Decimal leading_digits(const Decimal& value, int32_t digits);
// Refuses numbers that are longer than types::max_number_bytes.
base::Status check_number_size(const Number& number);
// Divides to the given scale, rounding halves away from zero or to even.
enum class Rounding { half_up, half_even };
Decimal divide(const Decimal& left, const Decimal& right, int32_t scale, Rounding rounding);
Decimal rescaled(const Decimal& value, int32_t scale, Rounding rounding);
Decimal add(const Decimal& left, const Decimal& right);
Decimal subtract(const Decimal& left, const Decimal& right);

}  // namespace sibyl::plan
