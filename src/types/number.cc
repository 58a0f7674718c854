#include "types/number.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace sibyl::types {
namespace {

void append_twos_complement(const BigInteger& value, Bytes& out) {
  if (value == 0) {
    out.push_back('\0');
    return;
  }
  // -x is ~(x - 1), so a negative number's bytes are the complement of those of |value| - 1.
  const bool negative = value < 0;
  const BigInteger magnitude = negative ? BigInteger(-value - 1) : value;
  std::vector<unsigned char> bytes;
  if (magnitude != 0) boost::multiprecision::export_bits(magnitude, std::back_inserter(bytes), 8);
  if (bytes.empty() || (bytes[0] & 0x80) != 0) bytes.insert(bytes.begin(), 0);
  const unsigned char flip = negative ? 0xff : 0;
  for (const unsigned char byte : bytes) out.push_back(static_cast<char>(byte ^ flip));
}

}  // namespace

Bytes encode_varint(const BigInteger& value) {
  Bytes bytes;
  append_twos_complement(value, bytes);
  return bytes;
}

Bytes encode_decimal(const BigInteger& unscaled, int32_t scale) {
  Bytes bytes;
  base::append_big_endian(bytes, static_cast<uint32_t>(scale));
  append_twos_complement(unscaled, bytes);
  return bytes;
}

BigInteger decode_varint(BytesView bytes) {
  BigInteger value;
  if (bytes.empty()) return value;
  const bool negative = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
  if (!negative) {
    boost::multiprecision::import_bits(value, reinterpret_cast<const unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data() + bytes.size()),
                                       8);
    return value;
  }
  std::vector<unsigned char> complement(bytes.size());
  std::transform(bytes.begin(), bytes.end(), complement.begin(),
                 [](char c) { return static_cast<unsigned char>(~static_cast<unsigned char>(c)); });
  boost::multiprecision::import_bits(value, complement.begin(), complement.end(), 8);
  return -value - 1;
}

void decode_decimal(BytesView bytes, BigInteger& unscaled, int32_t& scale) {
  scale = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
  unscaled = decode_varint(bytes.substr(4));
}

}  // namespace sibyl::types
