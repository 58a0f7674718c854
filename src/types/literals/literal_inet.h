// IP addresses from text.
#pragma once

#include <string_view>

#include "types/value.h"

namespace sibyl::types {

// Accepts what Java's InetAddress does, but never resolves names.
bool parse_inet(std::string_view text, Bytes& out);

}  // namespace sibyl::types
