#include "protocol/checksum.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>

namespace sibyl::protocol {
namespace {

constexpr uint32_t crc24_start = 0x875060;
constexpr uint32_t crc24_polynomial = 0x1974F0B;
constexpr uint32_t crc32_polynomial = 0xEDB88320;  // reflected

constexpr std::array<uint32_t, 256> make_crc24_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte << 16;
    for (int bit = 0; bit < 8; ++bit) {
      crc <<= 1;
      if ((crc & 0x1000000) != 0) crc ^= crc24_polynomial;
    }
    table[byte] = crc;
  }
  return table;
}

// tables[n][b] is the contribution of byte b followed by n zero bytes, so that eight bytes are handled at
// once.
using Crc32Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Crc32Tables make_crc32_tables() {
  Crc32Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? crc32_polynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t n = 1; n < tables.size(); ++n)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[n - 1][byte];
      tables[n][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}

constexpr auto crc24_table = make_crc24_table();
constexpr Crc32Tables crc32_tables = make_crc32_tables();

constexpr uint32_t crc32_step(uint32_t crc, uint8_t byte) {
  return (crc >> 8) ^ crc32_tables[0][(crc ^ byte) & 0xff];
}

// zlib reads long payloads twice as fast as the tables above, but needs three to six times as long for those
// of a small request, and most segments are one small request or response.
constexpr size_t min_payload_for_zlib = 1024;

// The CRC state after the four bytes that precede every payload.
constexpr uint32_t crc32_start =
    crc32_step(crc32_step(crc32_step(crc32_step(~uint32_t{0}, 0xFA), 0x2D), 0x55), 0xCA);

}  // namespace

uint32_t crc24(uint64_t bytes, size_t count) {
  uint32_t crc = crc24_start;
  for (; count > 0; --count, bytes >>= 8)
    crc = ((crc << 8) ^ crc24_table[((crc >> 16) ^ bytes) & 0xff]) & 0xffffff;
  return crc;
}

uint32_t crc32(base::BytesView payload) {
  if (payload.size() >= min_payload_for_zlib) {
    const auto crc = ::crc32_z(~crc32_start, reinterpret_cast<const Bytef*>(payload.data()), payload.size());
    return static_cast<uint32_t>(crc);
  }
  uint32_t crc = crc32_start;
  if constexpr (std::endian::native == std::endian::little) {
    for (; payload.size() >= 8; payload.remove_prefix(8)) {
      uint32_t low = 0, high = 0;
      std::memcpy(&low, payload.data(), 4);
      std::memcpy(&high, payload.data() + 4, 4);
      low ^= crc;
      crc = crc32_tables[7][low & 0xff] ^ crc32_tables[6][(low >> 8) & 0xff] ^
            crc32_tables[5][(low >> 16) & 0xff] ^ crc32_tables[4][low >> 24] ^ crc32_tables[3][high & 0xff] ^
            crc32_tables[2][(high >> 8) & 0xff] ^ crc32_tables[1][(high >> 16) & 0xff] ^
            crc32_tables[0][high >> 24];
    }
  }
  for (const char byte : payload) crc = crc32_step(crc, static_cast<uint8_t>(byte));
  return ~crc;
}

}  // namespace sibyl::protocol
