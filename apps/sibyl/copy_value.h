// Values as the text of a CSV field, as cqlsh's COPY spells them: True, 0x00ff, 2011-02-03 04:05:06.789+0000,
// [1, 2], {'a': 1}, (1, 'x'), {street: 'Main', number: 1}.
//
// Where cqlsh loses something this does not: numbers have all their digits, texts their control characters,
// and what is null inside a tuple differs from what is empty. Everything written here is read by cqlsh, too.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"

namespace sibyl::copy {

// REQUIRES: the bytes are a value of the type.
std::string to_text(const types::Type& type, base::BytesView bytes);
// Errors say what is wrong with the text, in Cassandra's words where it has some.
base::Result<base::Bytes> from_text(const types::Type& type, std::string_view text);

}  // namespace sibyl::copy
