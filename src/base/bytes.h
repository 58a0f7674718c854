// Byte strings, and the integer encodings used by values, keys and files.
//
// A byte string is a std::string: short ones need no allocation and every library accepts it. A borrowed one
// is a std::string_view. Both compare as unsigned bytes, which is the order of records in every store.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sibyl::base {

using Bytes = std::string;
using BytesView = std::string_view;

// Fixed-width big-endian integers, the byte order of CQL values and of keys.
template <typename Unsigned>
inline Unsigned to_big_endian(Unsigned value) {
  if constexpr (std::endian::native == std::endian::little) return std::byteswap(value);
  return value;
}

template <typename Unsigned>
inline void append_big_endian(Bytes& out, Unsigned value) {
  value = to_big_endian(value);
  char bytes[sizeof(Unsigned)];
  std::memcpy(bytes, &value, sizeof bytes);
  out.append(bytes, sizeof bytes);
}

// REQUIRES: at.size() >= sizeof(Unsigned).
template <typename Unsigned>
inline Unsigned read_big_endian(BytesView at) {
  Unsigned value = 0;
  std::memcpy(&value, at.data(), sizeof value);
  return to_big_endian(value);
}

// LEB128: small numbers take few bytes. Signed numbers are zigzag-encoded first.
void append_varint(Bytes& out, uint64_t value);
inline void append_signed_varint(Bytes& out, int64_t value) {
  append_varint(out, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

// Reads bytes front to back. Every read returns false if too few bytes are left. After a failed read the
// reader stays failed, so a decoder may check ok() once at its end.
class Reader {
 public:
  explicit Reader(BytesView bytes) : rest_(bytes) {}

  template <typename Unsigned>
  bool big_endian(Unsigned& value) {
    BytesView taken;
    if (!take(sizeof(Unsigned), taken)) return false;
    value = read_big_endian<Unsigned>(taken);
    return true;
  }
  bool take(size_t size, BytesView& bytes);
  bool varint(uint64_t& value);
  bool signed_varint(int64_t& value);
  // Reads a varint length, then that many bytes.
  bool sized(BytesView& bytes);

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  BytesView rest() const { return rest_; }

 private:
  bool fail() {
    ok_ = false;
    rest_ = {};
    return false;
  }
  BytesView rest_;
  bool ok_ = true;
};

inline void append_sized(Bytes& out, BytesView bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

// Neither function writes or accepts a "0x" prefix.
std::string to_hex(BytesView bytes);
bool from_hex(std::string_view text, Bytes& out);

}  // namespace sibyl::base
