#include "types/print_json.h"

#include <fmt/format.h>

#include <cmath>

#include "types/custom_class.h"
#include "types/elements.h"
#include "types/print.h"
#include "types/print_value.h"
#include "types/validate.h"

namespace sibyl::types {
namespace {

// Returns the letter after the backslash, 'u' for other control characters, and 0 for characters that need no
// escape.
char escape_of(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return static_cast<unsigned char>(c) < 0x20 ? 'u' : '\0';
  }
}

// Texts may have millions of characters, so each must take only a few nanoseconds.
void append_quoted(std::string_view text, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += '"';
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char escape = escape_of(text[i]);
    if (escape == '\0') continue;
    out.append(text, copied, i - copied);
    copied = i + 1;
    const char plain[] = {'\\', escape};
    out.append(plain, sizeof plain);
    if (escape != 'u') continue;
    const auto code = static_cast<unsigned char>(text[i]);
    const char number[] = {'0', '0', digits[code >> 4], digits[code & 15]};
    out.append(number, sizeof number);
  }
  out.append(text, copied);
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

std::string json_float(double value, std::string text) {
  return std::isfinite(value) ? text : "null";
}

// A case-sensitive name keeps its quotes in JSON, so that Cassandra can read the JSON back.
std::string field_name(const std::string& name) {
  for (const char c : name)
    if (c >= 'A' && c <= 'Z') return json_string('"' + name + '"');
  return json_string(name);
}

std::string json_elements(const Type& type, BytesView bytes) {
  const base::Result<Elements> elements = split(type, bytes);
  if (!elements) return json_string("0x" + base::to_hex(bytes));
  const bool object = type.kind() == Kind::map || type.kind() == Kind::udt;
  std::string text = object ? "{" : "[";
  const size_t width = type.parameters().size();
  for (size_t i = 0; i < elements->size(); ++i) {
    const bool map = type.kind() == Kind::map;
    if (i > 0) text += map && i % 2 == 1 ? ": " : ", ";
    if (type.kind() == Kind::udt) text += field_name(type.field_names()[i]) + ": ";
    const auto& element = (*elements)[i];
    std::string value = element ? to_json(*type.parameters()[i % width], *element) : "null";
    const bool key = map && i % 2 == 0;
    text += key && !value.starts_with('"') ? json_string(value) : value;
  }
  return text + (object ? "}" : "]");
}

std::string json_scalar(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::boolean:
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
    case Kind::varint:
    case Kind::decimal:
      return to_literal(type, bytes);
    case Kind::float_: {
      const float value = decode_float(bytes);
      return json_float(static_cast<double>(value), format_float(value));
    }
    case Kind::double_: {
      const double value = decode_double(bytes);
      return json_float(value, format_double(value));
    }
    case Kind::uuid:
    case Kind::timeuuid:
      return json_string(format_uuid(bytes));
    case Kind::inet:
      return json_string(format_long_inet(bytes));
    case Kind::date:
      return json_string(format_date(decode_date(bytes)));
    case Kind::time:
      return json_string(format_time(decode_integer(Kind::time, bytes)));
    case Kind::timestamp: {
      std::string text = format_timestamp(decode_integer(Kind::timestamp, bytes));
      text[text.find('T')] = ' ';
      return json_string(text);
    }
    case Kind::duration:
      return json_string(format_duration(decode_duration(bytes)));
    default:
      return json_string("0x" + base::to_hex(bytes));
  }
}

}  // namespace

namespace {

bool is_lexical_uuid(const Type& type) {
  const auto custom = find_custom_class(type);
  return custom && custom->form == CustomClass::Form::lexical_uuid;
}

}  // namespace

std::string to_json(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return json_string(bytes);
    case Kind::custom:
      if (bytes.size() == 16 && is_lexical_uuid(type)) return json_string(format_uuid(bytes));
      if (bytes.empty() && is_lexical_uuid(type)) return "\"\"";
      [[fallthrough]];
    case Kind::blob:
      return json_string("0x" + base::to_hex(bytes));
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return json_elements(type, bytes);
    default:
      if (bytes.empty()) return "\"\"";
      return validate(type, bytes) ? json_scalar(type, bytes) : json_string("0x" + base::to_hex(bytes));
  }
}

}  // namespace sibyl::types
