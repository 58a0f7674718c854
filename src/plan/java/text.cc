#include "plan/java/text.h"

#include <cstdint>

namespace sibyl::plan::java {
namespace {

bool is_high(char16_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(char16_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

void append_utf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      out += static_cast<char>(0xE0 | point >> 12);
    } else {
      out += static_cast<char>(0xF0 | point >> 18);
      out += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (point & 0x3F));
}

}  // namespace

std::u16string to_utf16(std::string_view utf8) {
  std::u16string out;
  out.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<uint8_t>(utf8[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t point = length == 1 ? first : first & (0x7FU >> length);
    for (size_t k = 1; k < length && i + k < utf8.size(); ++k)
      point = point << 6 | (static_cast<uint8_t>(utf8[i + k]) & 0x3FU);
    i += length;
    if (point < 0x10000) {
      out += static_cast<char16_t>(point);
    } else {
      out += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      out += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return out;
}

std::string to_utf8(std::u16string_view utf16) {
  std::string out;
  out.reserve(utf16.size());
  for (size_t i = 0; i < utf16.size(); ++i) {
    const char16_t unit = utf16[i];
    if (is_high(unit) && i + 1 < utf16.size() && is_low(utf16[i + 1])) {
      append_utf8(out, 0x10000U + ((unit & 0x3FFU) << 10) + (utf16[++i] & 0x3FFU));
    } else if (is_high(unit) || is_low(unit)) {
      out += '?';
    } else {
      append_utf8(out, unit);
    }
  }
  return out;
}

}  // namespace sibyl::plan::java
