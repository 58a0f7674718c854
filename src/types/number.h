// The two types without a largest value, as numbers. Apart from value.h because boost's header is heavy:
// include it in .cc files only.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "types/value.h"

namespace sibyl::types {

using BigInteger = boost::multiprecision::cpp_int;

Bytes encode_varint(const BigInteger& value);
// The value unscaled * 10^-scale.
Bytes encode_decimal(const BigInteger& unscaled, int32_t scale);

// Both require validated, non-empty bytes.
BigInteger decode_varint(BytesView bytes);
void decode_decimal(BytesView bytes, BigInteger& unscaled, int32_t& scale);

}  // namespace sibyl::types
