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

// Accepts 8-4-4-4-12 hex digits.
bool parse_uuid(std::string_view text, Bytes& out);

}  // namespace sibyl::types
