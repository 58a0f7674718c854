// RocksDB's encodings of numbers (little-endian, LEB128), sized bytes and masked checksums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

inline constexpr size_t key_trailer_size = 8;  // sequence number and type, at the end of internal keys

// REQUIRES: at least sizeof(Unsigned) bytes at `at`.
template <typename Unsigned>
Unsigned take_fixed(const char* at) {
  Unsigned value = 0;
  for (size_t i = 0; i < sizeof(Unsigned); ++i)
    value |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<uint8_t>(at[i])) << (8 * i));
  return value;
}

// Returns false if the bytes end early or the number has more than 64 bits.
inline bool take_varint(base::BytesView& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

inline bool take_sized(base::BytesView& bytes, base::BytesView& value) {
  uint64_t size = 0;
  if (!take_varint(bytes, size) || size > bytes.size()) return false;
  value = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

// RocksDB rotates the checksums that it stores and adds a constant.
inline uint32_t unmasked_crc(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace sibyl::storage::rocksdb
