#include "storage/rocksdb/crc32c.h"

#include <array>
#include <cstring>

namespace sibyl::storage::rocksdb {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr auto table = make_table();

uint32_t by_table(uint32_t crc, base::BytesView bytes) {
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t crc, base::BytesView bytes) {
  uint64_t wide = crc;
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
    bytes.remove_prefix(8);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (const char c : bytes) narrow = __builtin_ia32_crc32qi(narrow, static_cast<uint8_t>(c));
  return narrow;
}
#endif

}  // namespace

uint32_t crc32c(uint32_t crc, base::BytesView bytes) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(~crc, bytes);
#endif
  return ~by_table(~crc, bytes);
}

}  // namespace sibyl::storage::rocksdb
