// Cassandra's variable-length integers, used in durations and vectors. The number of leading one bits in the
// first byte is the number of bytes that follow, big-endian.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"

namespace sibyl::types {

inline void append_unsigned_vint(base::Bytes& out, uint64_t value) {
  const int bits = 64 - std::countl_zero(value | 1);
  const int extra = bits > 56 ? 8 : (bits - 1) / 7;
  if (extra == 8) {
    out.push_back(static_cast<char>(0xff));
    base::append_big_endian<uint64_t>(out, value);
    return;
  }
  const uint64_t marker = (0xff00u >> extra) & 0xff;
  out.push_back(static_cast<char>(marker | (value >> (8 * extra))));
  for (int shift = 8 * (extra - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

inline void append_signed_vint(base::Bytes& out, int64_t value) {
  append_unsigned_vint(out, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

// Removes one integer from the front. Returns false and leaves `bytes` unchanged if they end too early.
inline bool take_unsigned_vint(base::BytesView& bytes, uint64_t& value) {
  if (bytes.empty()) return false;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto extra = static_cast<size_t>(std::countl_one(first));
  if (bytes.size() < 1 + extra) return false;
  value = extra >= 8 ? 0 : first & (0xffu >> extra);
  for (size_t i = 1; i <= extra; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(1 + extra);
  return true;
}

inline bool take_signed_vint(base::BytesView& bytes, int64_t& value) {
  uint64_t raw = 0;
  if (!take_unsigned_vint(bytes, raw)) return false;
  value = static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
  return true;
}

}  // namespace sibyl::types
