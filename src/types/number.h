// The two types without a largest value, as numbers. Apart from value.h because boost's header is heavy:
// include it in .cc files only.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>

#include "types/value.h"

namespace sibyl::types {

using BigInteger = boost::multiprecision::cpp_int;

Bytes encode_varint(const BigInteger& value);
// The value unscaled * 10^-scale.
Bytes encode_decimal(const BigInteger& unscaled, int32_t scale);

// The decimal digits of a number that is not negative, and how many there are. By halves, so that a number of
// max_number_bytes takes some tens of milliseconds. Counts its work (base/statement.h).
std::string digits_of(const BigInteger& value);
int64_t count_digits(const BigInteger& value);
BigInteger power_of_ten(uint32_t exponent);
// Bytes of its magnitude, in whole limbs.
size_t byte_size(const BigInteger& value);
// Counts the work of a division. Call it before one whose operands may be long.
void count_division(const BigInteger& value, const BigInteger& divisor);

// Both require validated, non-empty bytes.
BigInteger decode_varint(BytesView bytes);
void decode_decimal(BytesView bytes, BigInteger& unscaled, int32_t& scale);

}  // namespace sibyl::types
