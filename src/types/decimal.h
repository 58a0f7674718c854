// Decimals in a form that is easy to compare: sign, exponent, digits. Memory use never depends on the
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

// REQUIRES: at least 4 bytes (the scale). Missing unscaled bytes count as zero.
NormalDecimal normal_decimal(base::BytesView bytes);

int compare_decimals(base::BytesView left, base::BytesView right);
// Compares two's complement big-endian numbers, padded or not. REQUIRES: neither is empty.
int compare_varints(base::BytesView left, base::BytesView right);
// Returns the number without redundant leading sign bytes. REQUIRES: not empty.
base::BytesView minimal_varint(base::BytesView bytes);

// The decimal digits of a two's complement number, without sign; "0" for no bytes.
std::string varint_digits(base::BytesView bytes);

}  // namespace sibyl::types
