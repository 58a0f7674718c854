#include "types/keys/murmur3.h"

#include <bit>
#include <cstring>
#include <limits>

namespace sibyl::types {
namespace {

constexpr uint64_t c1 = 0x87c37b91114253d5u;
constexpr uint64_t c2 = 0x4cf5ad432745937fu;

static_assert(std::endian::native == std::endian::little, "blocks are read in the byte order of memory");

uint64_t block(const char* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, 8);
  return value;
}

uint64_t mix_first(uint64_t k) {
  return std::rotl(k * c1, 31) * c2;
}
uint64_t mix_second(uint64_t k) {
  return std::rotl(k * c2, 33) * c1;
}

uint64_t finish(uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdu;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53u;
  k ^= k >> 33;
  return k;
}

// Cassandra sign-extends the bytes of the tail, so a byte above 0x7f also flips all higher bits.
uint64_t tail_bits(const char* at, size_t size) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i)
    bits ^= static_cast<uint64_t>(static_cast<int64_t>(static_cast<signed char>(at[i]))) << (8 * i);
  return bits;
}

}  // namespace

int64_t murmur3_token(BytesView key) {
  if (key.empty()) return std::numeric_limits<int64_t>::min();
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  const char* at = key.data();
  const char* body_end = at + key.size() / 16 * 16;
  for (; at < body_end; at += 16) {
    h1 ^= mix_first(block(at));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729u;
    h2 ^= mix_second(block(at + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5u;
  }
  const size_t tail = key.size() % 16;
  if (tail > 8) h2 ^= mix_second(tail_bits(at + 8, tail - 8));
  if (tail > 0) h1 ^= mix_first(tail_bits(at, tail < 8 ? tail : 8));
  h1 ^= key.size();
  h2 ^= key.size();
  h1 += h2;
  h2 += h1;
  h1 = finish(h1);
  h2 = finish(h2);
  const auto token = static_cast<int64_t>(h1 + h2);
  return token == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : token;
}

void encode_token(int64_t token, Bytes& out) {
  base::append_big_endian(out, static_cast<uint64_t>(token) ^ (uint64_t{1} << 63));
}

int64_t decode_token(BytesView eight_bytes) {
  return static_cast<int64_t>(base::read_big_endian<uint64_t>(eight_bytes) ^ (uint64_t{1} << 63));
}

}  // namespace sibyl::types
