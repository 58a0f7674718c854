#include "types/literals/literal.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "types/custom_class.h"
#include "types/elements.h"
#include "types/literals/literal_custom.h"
#include "types/literals/literal_duration.h"
#include "types/literals/literal_inet.h"
#include "types/literals/literal_number.h"
#include "types/literals/literal_time.h"
#include "types/literals/scan.h"
#include "types/uuid.h"
#include "types/validate.h"

namespace sibyl::types {
namespace {

using base::invalid;
using base::Result;

// The text of a composite may name the types of its parts, so the whole value is checked as well.
Result<Bytes> parse_valid_custom(const Type& type, std::string_view text) {
  SIBYL_ASSIGN(Bytes value, parse_custom(type, text));
  SIBYL_TRY(validate_custom(type, value));
  return value;
}

Result<Bytes> parse_ascii(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) continue;
    // Java counts 16-bit characters, so a character of four UTF-8 bytes counts as two.
    return invalid(fmt::format(
        "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: "
        "Input length = {}",
        byte >= 0xf0 ? 2 : 1));
  }
  return Bytes(text);
}

Result<Bytes> parse_boolean(std::string_view text) {
  if (text.empty() || base::equal_ignoring_case(text, "false")) return encode_boolean(false);
  if (base::equal_ignoring_case(text, "true")) return encode_boolean(true);
  return invalid(fmt::format("Unable to make boolean from '{}'", text));
}

Result<Bytes> parse_blob(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  Bytes bytes;
  if (!base::from_hex(digits, bytes)) return invalid(fmt::format("cannot parse '{}' as hex bytes", text));
  return bytes;
}

// Within tuples written as strings, collections and vectors are hexadecimal.
Result<Bytes> parse_valid_blob(const Type& type, std::string_view text) {
  SIBYL_ASSIGN(Bytes value, parse_blob(text));
  SIBYL_TRY(validate(type, value));
  return value;
}

template <typename Integer>
Result<Bytes> parse_fixed(std::string_view text, const char* name, Bytes (*encode)(Integer)) {
  int64_t value = 0;
  if (!parse_integer(text, value) || value < std::numeric_limits<Integer>::min() ||
      value > std::numeric_limits<Integer>::max())
    return invalid(fmt::format("Unable to make {} from '{}'", name, text));
  return encode(static_cast<Integer>(value));
}

Result<Bytes> parse_timeuuid(std::string_view text) {
  Bytes uuid;
  if (!parse_uuid(text, uuid)) return invalid(fmt::format("Unknown timeuuid representation: {}", text));
  if (uuid_version(uuid) != 1) return invalid("TimeUUID supports only version 1 UUIDs");
  return uuid;
}

// Parses a scalar for which an empty text is the empty value.
Result<Bytes> parse_nonempty(const Type& type, std::string_view text) {
  Bytes bytes;
  switch (type.kind()) {
    case Kind::tinyint:
      return parse_fixed<int8_t>(text, "byte", encode_int8);
    case Kind::smallint:
      return parse_fixed<int16_t>(text, "short", encode_int16);
    case Kind::int_:
      return parse_fixed<int32_t>(text, "int", encode_int32);
    case Kind::bigint:
    case Kind::counter:
      return parse_fixed<int64_t>(text, "long", encode_int64);
    case Kind::varint:
      return parse_varint(text);
    case Kind::decimal:
      return parse_decimal(text);
    case Kind::duration:
      return parse_duration(text);
    case Kind::timeuuid:
      return parse_timeuuid(text);
    case Kind::timestamp: {
      SIBYL_ASSIGN(const int64_t millis, parse_timestamp_millis(text));
      return encode_int64(millis);
    }
    case Kind::double_: {
      double value = 0;
      if (!parse_double(text, value)) return invalid(fmt::format("Unable to make double from '{}'", text));
      return encode_double(value);
    }
    case Kind::float_: {
      float value = 0;
      if (!parse_float(text, value)) return invalid(fmt::format("Unable to make float from '{}'", text));
      return encode_float(value);
    }
    case Kind::uuid:
      if (!parse_uuid(text, bytes)) return invalid(fmt::format("Unable to make UUID from '{}'", text));
      return bytes;
    case Kind::inet:
      if (!parse_inet(text, bytes))
        return invalid(fmt::format("Unable to make inet address from '{}'", text));
      return bytes;
    case Kind::empty:
      return invalid(fmt::format("'{}' is not empty", text));
    default:
      return invalid(fmt::format("cannot parse '{}' as {}", text, type.cql_name()));
  }
}

// Removes the backslashes before colons and @.
std::string unescaped(std::string_view field) {
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    const char next = i + 1 < field.size() ? field[i + 1] : '\0';
    if (field[i] != '\\' || (next != ':' && next != '@')) text += field[i];
  }
  return text;
}

// Fields are separated by colons. A backslash escapes a colon or an @. A lone @ is null. Trailing fields may
// be omitted.
Result<Bytes> parse_tuple(const Type& type, std::string_view text) {
  std::vector<std::string_view> fields;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size() && !text.empty(); ++i) {
    if (i < text.size() && (text[i] != ':' || (i > 0 && text[i - 1] == '\\'))) continue;
    fields.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (fields.size() > type.parameters().size())
    return invalid(fmt::format("Invalid tuple literal: too many elements. Type {} expects {} but got {}",
                               type.cql_name(), type.parameters().size(), fields.size()));
  std::vector<std::optional<Bytes>> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == "@") {
      values.emplace_back();
      continue;
    }
    SIBYL_ASSIGN(Bytes value, from_string(*type.parameters()[i], unescaped(fields[i])));
    values.emplace_back(std::move(value));
  }
  return join(type, Elements(values.begin(), values.end()));
}

}  // namespace

bool parse_uuid(std::string_view text, Bytes& out) {
  if (text.size() != 36) return false;
  std::string digits;
  digits.reserve(32);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash_wanted = i == 8 || i == 13 || i == 18 || i == 23;
    if ((text[i] == '-') != dash_wanted) return false;
    if (!dash_wanted) digits.push_back(text[i]);
  }
  return base::from_hex(digits, out);
}

Result<Bytes> from_string(const Type& type, std::string_view text) {
  switch (type.kind()) {
    case Kind::text:
      return Bytes(text);
    case Kind::ascii:
      return parse_ascii(text);
    case Kind::boolean:
      return parse_boolean(text);
    case Kind::blob:
      return parse_blob(text);
    case Kind::custom:
      return find_custom_class(type) ? parse_valid_custom(type, text) : parse_blob(text);
    case Kind::date:
      return parse_date(text);
    case Kind::time:
      return parse_time(text);
    case Kind::tuple:
    case Kind::udt:
      return parse_tuple(type, text);
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::vector:
      return parse_valid_blob(type, text);
    default:
      if (text.empty()) return Bytes();
      return parse_nonempty(type, text);
  }
}

}  // namespace sibyl::types
