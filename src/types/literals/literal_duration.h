// Durations from text.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// Accepts all four spellings, and negative durations.
base::Result<Bytes> parse_duration(std::string_view text);

}  // namespace sibyl::types
