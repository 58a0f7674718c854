#include "types/text.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sibyl::types {
namespace {

// Skips eight ASCII bytes at a time, because most text is ASCII.
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

// The size of the well-formed non-ASCII character at `at`, or 0 if it is malformed.
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

size_t find_invalid_utf8(base::BytesView bytes) {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = begin + bytes.size();
  const auto* at = begin;
  while ((at = skip_ascii(at, end)) < end) {
    const int size = character_size(at, end);
    if (size == 0) return static_cast<size_t>(at - begin);
    at += size;
  }
  return base::BytesView::npos;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), std::not_fn(continues_character)));
}

size_t next_character(std::string_view text, size_t offset) {
  while (offset < text.size() && continues_character(text[offset])) ++offset;
  return offset;
}

std::string_view whole_characters(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && continues_character(text[max_bytes])) --max_bytes;
  return text.substr(0, max_bytes);
}

}  // namespace sibyl::types
