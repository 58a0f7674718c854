// The bytes of key components, shared by encoder and decoder. Internal to src/types/keys.
#pragma once

#include <cstdint>
#include <cstring>

#include "types/keys/key.h"

namespace sibyl::types::key_internal {

inline constexpr char header_empty = 0x00;
inline constexpr char header_present = 0x01;
inline constexpr char header_foreign = 0x04;

inline constexpr char boolean_false = 0x01;
inline constexpr char boolean_true = 0x02;

inline constexpr char element_end = 0x00;
inline constexpr char element_null = 0x01;
inline constexpr char element_present = 0x02;

inline constexpr char composite_static = 0x01;
inline constexpr char composite_plain = 0x02;
inline constexpr char composite_end_sign = '\x80';

inline constexpr char decimal_negative = 0x01;
inline constexpr char decimal_zero = 0x02;
inline constexpr char decimal_positive = 0x03;
// An exponent near zero takes one byte. For other exponents, this byte tells how many bytes follow.
inline constexpr int64_t exponent_middle = 0x80;
inline constexpr int64_t exponent_short = 0x60;

// A varint's first byte is varint_middle plus or minus its size. Sizes above varint_short_size follow in four
// bytes.
inline constexpr uint32_t varint_middle = 0x80;
inline constexpr uint32_t varint_short_size = 0x70;
inline constexpr uint32_t varint_long_positive = 0xf8;
inline constexpr uint32_t varint_long_negative = 0x08;

inline void complement(Bytes& bytes, size_t start) {
  char* at = bytes.data() + start;
  char* const end = bytes.data() + bytes.size();
  for (; end - at >= 8; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word = ~word;
    std::memcpy(at, &word, 8);
  }
  for (; at < end; ++at) *at = static_cast<char>(~*at);
}

}  // namespace sibyl::types::key_internal
