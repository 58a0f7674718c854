// Canonical varints on raw pointers: the inner loop of the fragment codec.
//
// Little-endian groups of seven bits, as in base. Only the shortest form of a number is accepted, so every
// number has exactly one encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace sibyl::row {

inline constexpr size_t max_varint_size = 10;

inline uint64_t to_zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t from_zigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// The number of bytes that a varint takes.
inline size_t varint_size(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Writes to memory that the caller has allocated. The memory must be large enough.
class RawWriter {
 public:
  explicit RawWriter(char* at) : at_(at) {}

  void byte(uint8_t value) { *at_++ = static_cast<char>(value); }
  void varint(uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<char>(value);
  }
  void signed_varint(int64_t value) { varint(to_zigzag(value)); }
  void big_endian(uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) *at_++ = static_cast<char>(value >> shift);
  }
  void sized(base::BytesView bytes) {
    varint(bytes.size());
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  char* at() const { return at_; }

 private:
  char* at_;
};

// Every read returns false if the bytes end early or are not canonical.
class RawReader {
 public:
  explicit RawReader(base::BytesView bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  bool byte(uint8_t& value) {
    if (at_ == end_) return false;
    value = static_cast<uint8_t>(*at_++);
    return true;
  }
  bool varint(uint64_t& value) {
    if (at_ == end_) return false;
    const auto first = static_cast<uint8_t>(*at_);
    if (first < 0x80) {
      ++at_;
      value = first;
      return true;
    }
    return long_varint(value);
  }
  bool signed_varint(int64_t& value) {
    uint64_t raw = 0;
    if (!varint(raw)) return false;
    value = from_zigzag(raw);
    return true;
  }
  bool big_endian(uint64_t& value) {
    if (left() < 8) return false;
    value = base::read_big_endian<uint64_t>({at_, 8});
    at_ += 8;
    return true;
  }
  bool sized(base::BytesView& bytes) {
    uint64_t size = 0;
    if (!varint(size) || size > left()) return false;
    bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

 private:
  bool long_varint(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return false;
      const auto next = static_cast<uint8_t>(*at_++);
      if (shift == 63 && next > 1) return false;
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return next != 0;
    }
    return false;
  }
  const char* at_;
  const char* end_;
};

}  // namespace sibyl::row
