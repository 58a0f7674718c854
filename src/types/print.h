// Converts scalars to text. print_value.h and print_json.h convert values of any type.
#pragma once

#include <string>
#include <string_view>

#include "types/type.h"
#include "types/value.h"

namespace sibyl::types {

std::string format_uuid(BytesView uuid);
std::string format_inet(BytesView bytes);
std::string format_long_inet(BytesView bytes);      // all eight groups, as Java writes addresses
std::string format_timestamp(int64_t unix_millis);  // ISO 8601 in UTC: 2011-02-03T04:05:06.789Z
std::string format_date(int32_t days_since_1970);
std::string format_time(int64_t nanoseconds);
std::string format_duration(const Duration& duration);  // 1y2mo3d4h5m6s7ms8us9ns; "" for zero
std::string format_decimal(BytesView bytes);
std::string format_varint(BytesView bytes);
// The shortest text that parses to the same value, in Java's spelling: 1.0, 1.0E10, NaN, Infinity.
std::string format_double(double value);
std::string format_float(float value);

}  // namespace sibyl::types
