#include "types/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "types/number.h"

namespace sibyl::types {
namespace {

int sign_of(int order) {
  return (order > 0) - (order < 0);
}

bool is_negative(base::BytesView bytes) {
  return !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
}

// Bounds of the number of digits of a minimal number, without converting it: 8 bits are between 2.40 and 2.41
// digits.
struct DigitBounds {
  int64_t least, most;
};
DigitBounds digit_bounds(base::BytesView minimal) {
  const auto size = static_cast<int64_t>(minimal.size());
  return {std::max<int64_t>(1, (size - 2) * 240 / 100), size * 241 / 100 + 1};
}

}  // namespace

base::BytesView minimal_varint(base::BytesView bytes) {
  while (bytes.size() > 1) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    const auto second = static_cast<unsigned char>(bytes[1]);
    const bool padding = (first == 0 && (second & 0x80) == 0) || (first == 0xff && (second & 0x80) != 0);
    if (!padding) break;
    bytes.remove_prefix(1);
  }
  return bytes;
}

int compare_varints(base::BytesView left, base::BytesView right) {
  left = minimal_varint(left);
  right = minimal_varint(right);
  const bool negative = is_negative(left);
  if (negative != is_negative(right)) return negative ? -1 : 1;
  if (left.size() != right.size()) return (left.size() < right.size()) == negative ? 1 : -1;
  return sign_of(std::memcmp(left.data(), right.data(), left.size()));
}

std::string varint_digits(base::BytesView bytes) {
  bytes = bytes.empty() ? bytes : minimal_varint(bytes);
  if (bytes.size() > 8) return digits_of(BigInteger(abs(decode_varint(bytes))));
  uint64_t value = is_negative(bytes) ? ~uint64_t{0} : 0;
  for (const char c : bytes) value = (value << 8) | static_cast<unsigned char>(c);
  if (is_negative(bytes)) value = ~value + 1;
  return fmt::format_int(value).str();
}

NormalDecimal normal_decimal(base::BytesView bytes) {
  const auto scale = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
  const base::BytesView unscaled = bytes.substr(4);
  NormalDecimal normal;
  normal.digits = varint_digits(unscaled);
  if (normal.digits == "0") {
    normal.digits.clear();
    return normal;
  }
  normal.sign = is_negative(unscaled) ? -1 : 1;
  normal.exponent = static_cast<int64_t>(normal.digits.size()) - scale;
  normal.digits.resize(normal.digits.find_last_not_of('0') + 1);
  return normal;
}

int compare_decimals(base::BytesView left, base::BytesView right) {
  if (left.size() > 4 && right.size() > 4) {
    const base::BytesView left_unscaled = minimal_varint(left.substr(4));
    const base::BytesView right_unscaled = minimal_varint(right.substr(4));
    if (left.substr(0, 4) == right.substr(0, 4)) return compare_varints(left_unscaled, right_unscaled);
    // Long numbers of clearly different size need no conversion.
    const bool negative = is_negative(left_unscaled);
    if (negative == is_negative(right_unscaled) && (left.size() > 64 || right.size() > 64)) {
      const auto scale = [](base::BytesView bytes) {
        return static_cast<int64_t>(static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes)));
      };
      const DigitBounds left_bounds = digit_bounds(left_unscaled);
      const DigitBounds right_bounds = digit_bounds(right_unscaled);
      const bool both_long = left_unscaled.size() > 2 && right_unscaled.size() > 2;
      if (both_long && left_bounds.most - scale(left) < right_bounds.least - scale(right))
        return negative ? 1 : -1;
      if (both_long && left_bounds.least - scale(left) > right_bounds.most - scale(right))
        return negative ? -1 : 1;
    }
  }
  const NormalDecimal a = normal_decimal(left);
  const NormalDecimal b = normal_decimal(right);
  if (a.sign != b.sign) return a.sign < b.sign ? -1 : 1;
  if (a.exponent != b.exponent) return (a.exponent < b.exponent) == (a.sign > 0) ? -1 : 1;
  return sign_of(a.digits.compare(b.digits)) * (a.sign < 0 ? -1 : 1);
}

}  // namespace sibyl::types
