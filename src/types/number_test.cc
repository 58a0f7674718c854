#include "types/number.h"

#include <gtest/gtest.h>

#include <random>

#include "types/decimal.h"

namespace sibyl::types {
namespace {

BigInteger random_number(std::mt19937_64& random, size_t bytes) {
  Bytes encoded = "\x7f";
  while (encoded.size() < bytes) encoded.push_back(static_cast<char>(random()));
  return decode_varint(encoded);
}

TEST(NumberTest, digits_match_the_number) {
  std::mt19937_64 random(1);
  for (const size_t bytes : {1, 2, 9, 60, 61, 120, 128, 129, 136, 200, 500, 1000, 5000, 20000}) {
    for (int i = 0; i < 5; ++i) {
      const BigInteger value = random_number(random, bytes);
      EXPECT_EQ(digits_of(value), value.str());
      EXPECT_EQ(count_digits(value), static_cast<int64_t>(value.str().size()));
    }
  }
  EXPECT_EQ(digits_of(0), "0");
}

TEST(NumberTest, digits_of_round_numbers) {
  for (const uint32_t zeros : {0u, 1u, 18u, 143u, 144u, 145u, 288u, 289u, 576u, 1000u, 4608u, 10'000u}) {
    const BigInteger power = power_of_ten(zeros), less = power - 1;
    EXPECT_EQ(digits_of(power), "1" + std::string(zeros, '0'));
    EXPECT_EQ(count_digits(power), zeros + 1);
    if (zeros == 0) continue;
    EXPECT_EQ(digits_of(less), std::string(zeros, '9'));
    EXPECT_EQ(count_digits(less), zeros);
  }
}

}  // namespace
}  // namespace sibyl::types
