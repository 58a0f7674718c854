// Numbers from text.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

base::Result<Bytes> parse_varint(std::string_view digits);  // decimal digits, optional minus
base::Result<Bytes> parse_decimal(std::string_view text);   // 1.5, -3e10, 1E-7

// Java's spellings: NaN, Infinity, hexadecimal, trailing f or d, surrounding blanks.
bool parse_double(std::string_view text, double& value);
bool parse_float(std::string_view text, float& value);

// Parses an integer like Java's parseLong: an optional sign, then digits and nothing else.
bool parse_integer(std::string_view text, int64_t& value);

}  // namespace sibyl::types
