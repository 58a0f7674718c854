// Parses values from text, in every spelling that CQL literals may have.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::types {

// Parses a quoted string as a value of a scalar type, like Cassandra's AbstractType.fromString: dates, times,
// timestamps in every accepted pattern and zone, inet, uuid, numbers, blobs... Errors have Cassandra's text
// ("Unable to coerce '2011-13-01' to a formatted date (long)", "unable to make int from 'x'", ...).
base::Result<Bytes> from_string(const Type& type, std::string_view text);

// Parts that the parser and functions also use.
bool parse_uuid(std::string_view text, Bytes& out);         // 8-4-4-4-12 hex digits
base::Result<Bytes> parse_duration(std::string_view text);  // all four spellings, and negative ones
base::Result<Bytes> parse_varint(std::string_view digits);  // decimal digits, optional minus
base::Result<Bytes> parse_decimal(std::string_view text);   // 1.5, -3e10, 1E-7
base::Result<int64_t> parse_timestamp_millis(std::string_view text);

}  // namespace sibyl::types
