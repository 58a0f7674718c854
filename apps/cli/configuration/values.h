// Values and their units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::cli {

// Parses "16MiB" or "4096B" into bytes. A bare number has `unit`, or is refused if `unit` is empty.
base::Result<int64_t> parse_size(std::string_view text, std::string_view unit = "");
// Parses "10s", "500ms" or "1h" into microseconds.
base::Result<int64_t> parse_duration(std::string_view text, std::string_view unit = "");
std::string size_text(int64_t bytes);
std::string duration_text(int64_t micros);

}  // namespace sibyl::cli
