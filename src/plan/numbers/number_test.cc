#include "plan/numbers/number.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <string>

#include "plan/numbers/java_numbers.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// The number as a literal of the type, or the error.
std::string written(types::Kind kind, const Number& number) {
  const auto bytes = write_number(kind, number);
  return bytes ? types::to_literal(*types::scalar(kind), *bytes) : std::string(bytes.error().message());
}

TEST(Numbers, NarrowingFollowsJava) {
  using types::Kind;
  const Decimal large{BigInteger("123456789012345678901234567890"), 5};
  const struct {
    Kind kind;
    Number number;
    const char* literal;
  } cases[] = {
      // Integers wrap.
      {Kind::tinyint, number_of(int64_t{300}), "44"},
      {Kind::smallint, number_of(int64_t{-32769}), "32767"},
      {Kind::int_, number_of(int64_t{1} << 31), "-2147483648"},
      {Kind::bigint, number_of(BigInteger(1) << 64), "0"},
      {Kind::bigint, number_of((BigInteger(1) << 63)), "-9223372036854775808"},
      // Floating point saturates, narrow types through int.
      {Kind::int_, number_of(1e10), "2147483647"},
      {Kind::bigint, number_of(-1e300), "-9223372036854775808"},
      {Kind::tinyint, number_of(1e10), "-1"},
      {Kind::smallint, number_of(65537.9), "1"},
      {Kind::int_, number_of(not_a_number), "0"},
      {Kind::bigint, number_of(infinite), "9223372036854775807"},
      // Decimals lose their fraction, then wrap.
      {Kind::int_, number_of(Decimal{BigInteger(-1299), 2}), "-12"},
      {Kind::varint, number_of(large), "1234567890123456789012345"},
      {Kind::bigint, number_of(Decimal{BigInteger(1), -70}), "0"},
      {Kind::double_, number_of(large), "1.2345678901234568E24"},
      {Kind::float_, number_of(Decimal{BigInteger(1), -50}), "Infinity"},
      {Kind::decimal, number_of(1.1), "1.1"},
      {Kind::decimal, number_of(int64_t{7}), "7"},
      {Kind::decimal, number_of(infinite), "A Infinity double cannot be converted into a decimal"},
  };
  for (const auto& one : cases) EXPECT_EQ(written(one.kind, one.number), one.literal);
}

TEST(Numbers, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([](int64_t integer, double floating) {
    using types::Kind;
    const auto bytes = write_number(Kind::bigint, number_of(integer));
    RC_ASSERT(read_number(Kind::bigint, *bytes).to_int64() == integer);
    const auto big = write_number(Kind::varint, number_of(integer));
    RC_ASSERT(read_number(Kind::varint, *big).to_int64() == integer);
    const auto decimal = write_number(Kind::decimal, number_of(floating));
    RC_ASSERT(read_number(Kind::decimal, *decimal).to_double() == floating);
  }));
}

TEST(Numbers, DivisionRoundsAsAsked) {
  const struct {
    int64_t left, right;
    int32_t scale;
    Rounding rounding;
    int64_t unscaled;
  } cases[] = {
      {1, 2, 0, Rounding::half_up, 1},    {1, 2, 0, Rounding::half_even, 0},
      {3, 2, 0, Rounding::half_even, 2},  {-1, 2, 0, Rounding::half_up, -1},
      {-1, 2, 0, Rounding::half_even, 0}, {-5, 2, 0, Rounding::half_even, -2},
      {2, 3, 2, Rounding::half_up, 67},   {-2, 3, 2, Rounding::half_even, -67},
      {1, 3, 0, Rounding::half_up, 0},    {1999, 1, -3, Rounding::half_up, 2},
  };
  for (const auto& one : cases) {
    const Decimal quotient = divide({one.left, 0}, {one.right, 0}, one.scale, one.rounding);
    EXPECT_EQ(quotient.unscaled, one.unscaled) << one.left << "/" << one.right;
    EXPECT_EQ(quotient.scale, one.scale);
  }
}

TEST(Numbers, TrailingZerosAndLeadingDigits) {
  const Decimal stripped = strip_trailing_zeros({BigInteger("1230000"), 2});
  EXPECT_EQ(stripped.unscaled, 123);
  EXPECT_EQ(stripped.scale, -2);
  EXPECT_EQ(strip_trailing_zeros({BigInteger(0), 9}).scale, 0);
  BigInteger value = power_of_ten(37) * 7;
  EXPECT_EQ(divide_out_tens(value, 30), 30);
  EXPECT_EQ(value, power_of_ten(7) * 7);
  EXPECT_EQ(divide_out_tens(value, 100), 7);
  EXPECT_EQ(value, 7);

  const Decimal exact = leading_digits({BigInteger("12300"), 0}, 3);
  EXPECT_EQ(exact.unscaled, 123);
  EXPECT_EQ(exact.scale, -2);
  const Decimal cut = leading_digits({BigInteger("-12345"), 0}, 3);
  EXPECT_EQ(cut.unscaled, -1231) << "one digit stands for those that were cut off";
  EXPECT_EQ(cut.scale, -1);
  EXPECT_EQ(precision_of(BigInteger(0)), 1);
  EXPECT_EQ(precision_of(BigInteger(-1000)), 4);
}

TEST(Numbers, SumsKeepTheLargerScale) {
  const Decimal sum = add({BigInteger(15), 1}, {BigInteger(250), 3});
  EXPECT_EQ(sum.unscaled, 1750);
  EXPECT_EQ(sum.scale, 3);
  const Decimal difference = subtract({BigInteger(1), -2}, {BigInteger(1), 0});
  EXPECT_EQ(difference.unscaled, 99);
  EXPECT_EQ(difference.scale, 0);
}

TEST(Numbers, TooLongNumbersAreRefused) {
  const size_t bits = types::max_number_bytes * 8 - 1;
  EXPECT_TRUE(check_number_size(number_of((BigInteger(1) << bits) - 1)));
  EXPECT_FALSE(check_number_size(number_of(BigInteger(1) << bits)));
  EXPECT_FALSE(check_number_size(number_of(BigInteger(-(BigInteger(1) << bits)))));
}

TEST(Numbers, JavaReadsText) {
  const struct {
    const char* text;
    bool is_int32, is_int64, is_double;
  } cases[] = {
      {"0", true, true, true},
      {"+7", true, true, true},
      {"-2147483648", true, true, true},
      {"2147483648", false, true, true},
      {"9223372036854775808", false, false, true},
      {"007", true, true, true},
      {" 7 ", false, false, true},
      {"1.5", false, false, true},
      {".5", false, false, true},
      {"5.", false, false, true},
      {"1e3", false, false, true},
      {"NaN", false, false, true},
      {"-Infinity", false, false, true},
      {"inf", false, false, false},
      {"nan", false, false, false},
      {"0x10", false, false, false},
      {"1_000", false, false, false},
      {"++1", false, false, false},
      {"--1", false, false, false},
      {"+-5", false, false, false},
      {"-+5", false, false, false},
      {"+-1.5", false, false, false},
      {"-", false, false, false},
      {"", false, false, false},
      {"7x", false, false, false},
  };
  for (const auto& one : cases) {
    int32_t small = 0;
    int64_t large = 0;
    double real = 0;
    EXPECT_EQ(parse_int32(one.text, small), one.is_int32) << one.text;
    EXPECT_EQ(parse_int64(one.text, large), one.is_int64) << one.text;
    EXPECT_EQ(parse_double(one.text, real), one.is_double) << one.text;
  }
  double real = 0;
  ASSERT_TRUE(parse_double("-Infinity", real));
  EXPECT_EQ(real, -infinite);
  ASSERT_TRUE(parse_double("NaN", real));
  EXPECT_TRUE(std::isnan(real));
}

}  // namespace
}  // namespace sibyl::plan
