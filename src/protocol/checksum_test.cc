#include "protocol/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"

namespace sibyl::protocol {
namespace {

using base::Bytes;
using base::BytesView;

Bytes sample_of(size_t size) {
  Bytes bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

// CRC-32 by its definition, one bit at a time.
uint32_t crc32_by_bits(BytesView bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

TEST(Checksum, PayloadsBeginWithFourHiddenBytes) {
  EXPECT_EQ(crc32_by_bits("123456789"), 0xCBF43926u) << "the check value of CRC-32";
  EXPECT_EQ(crc32(""), crc32_by_bits("\xFA\x2D\x55\xCA"));
  EXPECT_EQ(crc32("123456789"), crc32_by_bits("\xFA\x2D\x55\xCA"
                                              "123456789"));
}

// Long payloads are computed by zlib, short ones by tables. The last bytes of short ones are computed one at
// a time.
TEST(Checksum, IsTheSameFunctionForEverySize) {
  const Bytes prefix("\xFA\x2D\x55\xCA");
  for (const size_t begin : {0, 1, 3})
    for (const size_t size : {1, 7, 8, 9, 15, 16, 100, 1015, 1016, 1023, 1024, 1025, 1033, 16'384, 131'071}) {
      const Bytes bytes = sample_of(begin + size);
      const BytesView payload = BytesView(bytes).substr(begin);
      EXPECT_EQ(crc32(payload), crc32_by_bits(prefix + Bytes(payload))) << begin << " " << size;
    }
}

TEST(Checksum, HeadersUseTheLowestBytesFirst) {
  EXPECT_EQ(crc24(0, 0), 0x875060u);
  EXPECT_EQ(crc24(0xFFFFFF030201, 3), crc24(0x030201, 3)) << "only `count` bytes are read";
  EXPECT_NE(crc24(0x030201, 3), crc24(0x010203, 3));
}

}  // namespace
}  // namespace sibyl::protocol
