// UTF-8 with the rules of Java's decoder: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string_view>

#include "base/bytes.h"

namespace sibyl::types {

// The offset of the first malformed character, or npos if there is none.
size_t find_invalid_utf8(base::BytesView bytes);
inline bool is_utf8(base::BytesView bytes) {
  return find_invalid_utf8(bytes) == base::BytesView::npos;
}

// True if `byte` continues a character that began before it.
inline bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

size_t count_characters(std::string_view text);

// The offset of the first character that begins at or after `offset`, or the text's size.
size_t next_character(std::string_view text, size_t offset);

// The longest prefix of at most `max_bytes` bytes that does not split a character.
std::string_view whole_characters(std::string_view text, size_t max_bytes);

}  // namespace sibyl::types
