#include "types/text.h"

#include <cstring>

namespace sibyl::types {
namespace {

// Eight ASCII bytes at a time: most text is.
const unsigned char* skip_ascii(const unsigned char* at, const unsigned char* end) {
  while (end - at >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    if ((word & 0x8080808080808080ull) != 0) break;
    at += 8;
  }
  while (at < end && *at < 0x80) ++at;
  return at;
}

// The length of the well-formed character at `at`, which is not ASCII; 0 when there is none.
int character_size(const unsigned char* at, const unsigned char* end) {
  const auto follows = [&](int index, unsigned char low = 0x80, unsigned char high = 0xbf) {
    return at + index < end && at[index] >= low && at[index] <= high;
  };
  const unsigned char lead = at[0];
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned char low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned char low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(base::BytesView bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = at + bytes.size();
  while ((at = skip_ascii(at, end)) < end) {
    const int size = character_size(at, end);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

}  // namespace sibyl::types
