// Decimals in the form that orders them: sign, exponent, digits. Never allocates in proportion to the
// exponent.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace sibyl::types {

// The number sign * 0.d1d2d3... * 10^exponent with d1 != 0 and no trailing zeros; for zero, sign is 0 and the
// rest is empty. Equal numbers have equal forms.
struct NormalDecimal {
  int sign = 0;
  int64_t exponent = 0;
  std::string digits;  // '0' to '9'
};

// REQUIRES: at least 4 bytes (the scale); missing unscaled bytes count as zero.
NormalDecimal normal_decimal(base::BytesView bytes);

int compare_decimals(base::BytesView left, base::BytesView right);
// Two's complement big-endian numbers, padded or not. REQUIRES: neither is empty.
int compare_varints(base::BytesView left, base::BytesView right);
// The number without bytes that only repeat its sign. REQUIRES: not empty.
base::BytesView minimal_varint(base::BytesView bytes);

// The decimal digits of a two's complement number, without sign; "0" for none.
std::string varint_digits(base::BytesView bytes);

}  // namespace sibyl::types
