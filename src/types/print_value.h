// Converts values to CQL literals, and to the text that cqlsh shows.
#pragma once

#include <string>

#include "types/value.h"

namespace sibyl::types {

// A CQL literal that parses to the same value: 'it''s', 0x00ff, {1: 'a'}, 2011-02-03 as '2011-02-03', ...
std::string to_literal(const Type& type, BytesView bytes);

// The text that cqlsh shows: text without quotes at top level (quoted inside collections), timestamps as
// `2011-02-03 04:05:06.789000+0000`, floats with up to 5 significant digits (cqlsh's default), ...
std::string to_display(const Type& type, BytesView bytes);

}  // namespace sibyl::types
