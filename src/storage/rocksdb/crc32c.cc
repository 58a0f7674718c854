#include "storage/rocksdb/crc32c.h"

#include <array>
#include <cstring>

namespace sibyl::storage::rocksdb {
namespace {

// A checksum is a polynomial over GF(2) whose highest bit is the coefficient of x⁰.
constexpr uint32_t one = 0x80000000U;

constexpr uint32_t times_x(uint32_t polynomial) {
  return (polynomial >> 1) ^ ((polynomial & 1) != 0 ? 0x82f63b78U : 0U);
}

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = times_x(crc);
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

constexpr uint32_t product(uint32_t left, uint32_t right) {
  uint32_t sum = 0;
  for (uint32_t bit = one; bit != 0; bit >>= 1, right = times_x(right)) sum ^= (left & bit) != 0 ? right : 0;
  return sum;
}

// powers[d][n] is x to the power of 8 · n · 256^d, which is the factor for n · 256^d bytes.
using Powers = std::array<std::array<uint32_t, 256>, 8>;
Powers make_powers() {
  Powers powers{};
  uint32_t base = one >> 8;
  for (auto& digit : powers) {
    digit[0] = one;
    for (size_t n = 1; n < digit.size(); ++n) digit[n] = product(digit[n - 1], base);
    base = product(digit.back(), base);
  }
  return powers;
}

// Advances the difference between two checksums by `size` identical bytes.
uint32_t shifted(uint32_t difference, uint64_t size) {
  static const Powers powers = make_powers();
  for (size_t digit = 0; size != 0; ++digit, size >>= 8)
    if ((size & 0xff) != 0) difference = product(difference, powers[digit][size & 0xff]);
  return difference;
}

constexpr size_t step = 64;

}  // namespace

uint32_t crc32c(uint32_t crc, base::BytesView bytes) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(~crc, bytes);
#endif
  return ~by_table(~crc, bytes);
}

Crc32cOfRuns::Crc32cOfRuns(base::BytesView bytes) : bytes_(bytes) {
  marks_.reserve(bytes.size() / step + 1);
  marks_.push_back(0);
  for (size_t at = 0; at + step <= bytes.size(); at += step)
    marks_.push_back(crc32c(marks_.back(), bytes.substr(at, step)));
}

uint32_t Crc32cOfRuns::up_to(uint64_t end) const {
  return crc32c(marks_[end / step], bytes_.substr(end / step * step, end % step));
}

uint32_t Crc32cOfRuns::run(uint32_t crc, uint64_t begin, uint64_t size) const {
  return up_to(begin + size) ^ shifted(crc ^ up_to(begin), size);
}

}  // namespace sibyl::storage::rocksdb
