// Converts values to text.
#pragma once

#include <string>
#include <string_view>

#include "types/type.h"
#include "types/value.h"

namespace sibyl::types {

// A CQL literal that parses to the same value: 'it''s', 0x00ff, {1: 'a'}, 2011-02-03 as '2011-02-03', ...
std::string to_literal(const Type& type, BytesView bytes);

// The text that cqlsh shows: text without quotes at top level (quoted inside collections), timestamps as
// `2011-02-03 04:05:06.789000+0000`, floats with up to 5 significant digits (cqlsh's default), ...
std::string to_display(const Type& type, BytesView bytes);

// JSON, as Cassandra's toJson() and SELECT JSON write it.
std::string to_json(const Type& type, BytesView bytes);

std::string format_uuid(BytesView uuid);
std::string format_inet(BytesView bytes);
std::string format_long_inet(BytesView bytes);      // all eight groups, as Java writes addresses
std::string format_timestamp(int64_t unix_millis);  // ISO 8601 in UTC: 2011-02-03T04:05:06.789Z
std::string format_date(int32_t days_since_1970);
std::string format_time(int64_t nanoseconds);
std::string format_duration(const Duration& duration);  // 1y2mo3d4h5m6s7ms8us9ns; "" for zero
std::string format_decimal(BytesView bytes);
std::string format_varint(BytesView bytes);
std::string format_double(
    double value);  // shortest that parses to the same value, in Java's spelling: 1.0, 1.0E10, NaN, Infinity
std::string format_float(float value);

// Quotes an identifier if it needs quotes: `name` or `"Name"`. Reserved words are quoted.
std::string quote_identifier(std::string_view name);
std::string quote_string(std::string_view text);  // 'it''s'

}  // namespace sibyl::types
