// UTF-8, as Java's decoder judges it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string_view>

#include "base/bytes.h"

namespace sibyl::types {

// Where the first character stands that is not well formed; npos when all are.
size_t find_invalid_utf8(base::BytesView bytes);
inline bool is_utf8(base::BytesView bytes) {
  return find_invalid_utf8(bytes) == base::BytesView::npos;
}

// Whether the byte goes on with the character before it.
inline bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

size_t count_characters(std::string_view text);

// The first place from `offset` on where a character begins, or the text's end.
size_t next_character(std::string_view text, size_t offset);

// The text's beginning, at most so many bytes of it, without a part of a character at its end.
std::string_view whole_characters(std::string_view text, size_t most_bytes);

}  // namespace sibyl::types
