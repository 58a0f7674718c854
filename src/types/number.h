// varint and decimal, the types without a largest value, as numbers. Separate from value.h because boost's
// header is large: include this in .cc files only.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>

#include "types/value.h"

namespace sibyl::types {

using BigInteger = boost::multiprecision::cpp_int;

Bytes encode_varint(const BigInteger& value);
// Encodes the value unscaled * 10^-scale.
Bytes encode_decimal(const BigInteger& unscaled, int32_t scale);

// The decimal digits of a non-negative number, and their count. Splits numbers in halves, so that a number of
// max_number_bytes takes some tens of milliseconds. Calls count_work() (base/statement.h).
std::string digits_of(const BigInteger& value);
int64_t count_digits(const BigInteger& value);
BigInteger power_of_ten(uint32_t exponent);
// Returns the size of the number's magnitude in bytes, rounded up to whole limbs.
size_t byte_size(const BigInteger& value);
// Calls count_work() for a division. Call it before one whose operands may be long.
void count_division(const BigInteger& value, const BigInteger& divisor);

// REQUIRES: validated, non-empty bytes.
BigInteger decode_varint(BytesView bytes);
void decode_decimal(BytesView bytes, BigInteger& unscaled, int32_t& scale);

}  // namespace sibyl::types
