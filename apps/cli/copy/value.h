// Converts values to and from the text of CSV fields, in the notation of cqlsh's COPY: True, 0x00ff,
// 2011-02-03 04:05:06.789+0000, [1, 2], {'a': 1}, (1, 'x'), {street: 'Main', number: 1}.
//
// Unlike cqlsh, this loses no information: numbers keep all digits, texts keep control characters, and null
// inside a tuple differs from an empty value. cqlsh can read everything that is written here.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"

namespace sibyl::cli::copy {

// REQUIRES: the bytes are a value of the type.
std::string to_text(const types::Type& type, base::BytesView bytes);
// Errors name the problem in the text, with Cassandra's message if it has one.
base::Result<base::Bytes> from_text(const types::Type& type, std::string_view text);

}  // namespace sibyl::cli::copy
