// Whole values as CQL literals and as cqlsh shows them.
#include "types/print_value.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "types/calendar.h"
#include "types/elements.h"
#include "types/identifier.h"
#include "types/print.h"
#include "types/text.h"
#include "types/validate.h"

namespace sibyl::types {
namespace {

constexpr int64_t nanos_per_day = 86'400'000'000'000;
// Milliseconds of 0001-01-01 and 10000-01-01.
constexpr int64_t first_plain_timestamp = days_from_civil({1, 1, 1}) * 86'400'000;
constexpr int64_t end_of_plain_timestamps = days_from_civil({10000, 1, 1}) * 86'400'000;

bool is_plain_timestamp(int64_t millis) {
  return millis >= first_plain_timestamp && millis < end_of_plain_timestamps;
}

// For values that have no literal: calls CQL's conversion function.
std::string from_blob(const Type& type, BytesView bytes) {
  return fmt::format("blob_as_{}(0x{})", type.cql_name(), base::to_hex(bytes));
}

template <typename Print>
std::string print_elements(const Type& type, BytesView bytes, Print print,
                           std::string (*name)(std::string_view)) {
  const base::Result<Elements> elements = split(type, bytes);
  if (!elements) return "0x" + base::to_hex(bytes);
  const bool braces = type.kind() == Kind::set || type.kind() == Kind::map || type.kind() == Kind::udt;
  std::string text = braces ? "{" : type.kind() == Kind::tuple ? "(" : "[";
  const size_t width = type.parameters().size();
  for (size_t i = 0; i < elements->size(); ++i) {
    const bool value_of_map = type.kind() == Kind::map && i % 2 == 1;
    if (i > 0) text += value_of_map ? ": " : ", ";
    if (type.kind() == Kind::udt) text += name(type.field_names()[i]) + ": ";
    const auto& element = (*elements)[i];
    text += element ? print(*type.parameters()[i % width], *element) : "null";
  }
  text += braces ? "}" : type.kind() == Kind::tuple ? ")" : "]";
  return text;
}

std::string literal_of_scalar(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::boolean:
      return decode_boolean(bytes) ? "true" : "false";
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
      return fmt::format("{}", decode_integer(type.kind(), bytes));
    case Kind::varint:
      return format_varint(bytes);
    case Kind::decimal:
      return format_decimal(bytes);
    case Kind::float_:
      return format_float(decode_float(bytes));
    case Kind::double_:
      return format_double(decode_double(bytes));
    case Kind::uuid:
    case Kind::timeuuid:
      return format_uuid(bytes);
    case Kind::inet:
      return quote_string(format_inet(bytes));
    case Kind::date:
      return quote_string(format_date(decode_date(bytes)));
    case Kind::time: {
      const int64_t nanoseconds = decode_integer(Kind::time, bytes);
      if (nanoseconds < 0 || nanoseconds >= nanos_per_day) return from_blob(type, bytes);
      return quote_string(format_time(nanoseconds));
    }
    case Kind::timestamp: {
      const int64_t millis = decode_integer(Kind::timestamp, bytes);
      return is_plain_timestamp(millis) ? quote_string(format_timestamp(millis)) : fmt::format("{}", millis);
    }
    case Kind::duration: {
      std::string text = format_duration(decode_duration(bytes));
      return text.empty() ? "0s" : text;
    }
    default:
      return "0x" + base::to_hex(bytes);
  }
}

// --- cqlsh

// Control characters print as in Python's repr. A backslash is doubled so that the two cannot be confused.
std::string escape_text(BytesView text, bool quoted) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool high_control =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) <= 0xa0;
    if (text[i] == '\\') {
      out += "\\\\";
    } else if (text[i] == '\n') {
      out += "\\n";
    } else if (text[i] == '\r') {
      out += "\\r";
    } else if (text[i] == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (high_control) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      if (quoted && text[i] == '\'') out += '\'';
      out += text[i];
    }
  }
  return out;
}

// Prints `precision` significant digits. For numbers near one they are counted after the point, as in cqlsh.
std::string display_float(double value, int precision) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (std::abs(value) > std::numeric_limits<double>::epsilon()) {
    const int exponent = static_cast<int>(std::log10(std::abs(value)));
    if (exponent >= -4 && exponent < precision) precision += exponent + 1;
  }
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", precision, value);
  return buffer;
}

std::string display_timestamp(int64_t millis) {
  if (!is_plain_timestamp(millis)) return fmt::format("{}", millis);
  std::string text = format_timestamp(millis);  // 2011-02-03T04:05:06.789Z
  text[10] = ' ';
  text.pop_back();
  return text + "000+0000";
}

std::string display_element(const Type& type, BytesView bytes, bool nested, int precision) {
  const auto quoted = [&](std::string text) { return nested ? "'" + text + "'" : text; };
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return quoted(escape_text(bytes, nested));
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return print_elements(
          type, bytes,
          [&](const Type& element, BytesView value) {
            return display_element(element, value, true, precision);
          },
          [](std::string_view name) { return escape_text(name, false); });
    case Kind::blob:
    case Kind::custom:
      return "0x" + base::to_hex(bytes);
    default:
      break;
  }
  if (bytes.empty()) return "";
  switch (type.kind()) {
    case Kind::boolean:
      return decode_boolean(bytes) ? "True" : "False";
    case Kind::float_:
      return display_float(static_cast<double>(decode_float(bytes)), precision);
    case Kind::double_:
      return display_float(decode_double(bytes), precision);
    case Kind::timestamp:
      return quoted(display_timestamp(decode_integer(Kind::timestamp, bytes)));
    case Kind::inet:
      return quoted(format_inet(bytes));
    case Kind::date:
      return format_date(decode_date(bytes));
    case Kind::time:
      return format_time(decode_integer(Kind::time, bytes));
    case Kind::duration:
      return format_duration(decode_duration(bytes));
    default:
      return literal_of_scalar(type, bytes);
  }
}

}  // namespace

std::string to_literal(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return quote_string(bytes);
    case Kind::blob:
    case Kind::custom:
      return "0x" + base::to_hex(bytes);
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return print_elements(type, bytes, to_literal, quote_identifier);
    case Kind::timestamp:
    case Kind::inet:
    case Kind::empty:
      if (bytes.empty()) return "''";
      break;
    default:
      if (bytes.empty()) return from_blob(type, bytes);
  }
  return validate(type, bytes) ? literal_of_scalar(type, bytes) : "0x" + base::to_hex(bytes);
}

std::string to_display(const Type& type, BytesView bytes) {
  constexpr int float_digits = 5;
  constexpr int double_digits = 12;
  if (!validate(type, bytes)) return bytes.empty() ? "" : "0x" + base::to_hex(bytes);
  return display_element(type, bytes, false, type.kind() == Kind::double_ ? double_digits : float_digits);
}

}  // namespace sibyl::types
