// Functions that literal.cc combines. Internal to src/types/literals.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

base::Result<Bytes> parse_date(std::string_view text);
base::Result<Bytes> parse_time(std::string_view text);
bool parse_inet(std::string_view text, Bytes& out);
// Java's spellings: NaN, Infinity, hexadecimal, trailing f or d, surrounding blanks.
bool parse_double(std::string_view text, double& value);
bool parse_float(std::string_view text, float& value);

}  // namespace sibyl::types
