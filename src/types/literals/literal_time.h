// Timestamps, dates and times of day from text.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// Accepts every pattern and zone of Cassandra.
base::Result<int64_t> parse_timestamp_millis(std::string_view text);
base::Result<Bytes> parse_date(std::string_view text);
base::Result<Bytes> parse_time(std::string_view text);

}  // namespace sibyl::types
