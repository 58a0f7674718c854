// Parses numbers like Java's parseInt, parseLong and parseDouble, for table options, JSON and guardrails.
#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl::plan {

// Return false if the text is not such a number or does not fit; `value` is then unspecified.
bool parse_int32(std::string_view text, int32_t& value);
bool parse_int64(std::string_view text, int64_t& value);
bool parse_double(std::string_view text, double& value);

}  // namespace sibyl::plan
