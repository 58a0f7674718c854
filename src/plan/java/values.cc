#include "plan/java/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/java/text.h"

namespace sibyl::plan::java {

Value read_value(const Type& type, const types::Type& cql, const types::ValueView& given) {
  Value value;
  const bool is_text = type.kind == Kind::string;
  value.is_null = !given.is_present() || (given.bytes.empty() && type.kind != Kind::other && !is_text);
  if (value.is_null) return value;
  switch (unboxed(type.kind)) {
    case Kind::boolean:
      value.integer = given.bytes[0] != 0;
      break;
    case Kind::float_:
      value.floating = types::decode_float(given.bytes);
      break;
    case Kind::double_:
      value.floating = types::decode_double(given.bytes);
      break;
    case Kind::string:
      value.text = to_utf16(given.bytes);
      break;
    case Kind::other:
      value.bytes = base::Bytes(given.bytes);
      break;
    default:
      value.integer = types::decode_integer(cql.kind(), given.bytes);
  }
  return value;
}

base::Result<base::Bytes> write_value(const Type& type, const types::Type& cql, const Value& value) {
  switch (unboxed(type.kind)) {
    case Kind::boolean:
      return types::encode_boolean(value.integer != 0);
    case Kind::float_:
      return types::encode_float(static_cast<float>(value.floating));
    case Kind::double_:
      return types::encode_double(value.floating);
    case Kind::string: {
      std::string text = to_utf8(value.text);
      const bool is_ascii =
          std::all_of(value.text.begin(), value.text.end(), [](char16_t unit) { return unit < 0x80; });
      if (cql.kind() == types::Kind::ascii && !is_ascii)
        return thrown(
            fmt::format("org.apache.cassandra.cql3.functions.types.exceptions.InvalidTypeException: {} is "
                        "not a valid ASCII String",
                        text));
      return text;
    }
    case Kind::other:
      return value.bytes;
    case Kind::byte_:
      return types::encode_int8(static_cast<int8_t>(value.integer));
    case Kind::short_:
      return types::encode_int16(static_cast<int16_t>(value.integer));
    case Kind::int_:
      return types::encode_int32(static_cast<int32_t>(value.integer));
    default:
      return types::encode_int64(value.integer);
  }
}

}  // namespace sibyl::plan::java
