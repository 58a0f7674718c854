#include "plan/java/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/java/text.h"

namespace sibyl::plan::java {

Value read_value(const Type& type, const types::Type& cql, const types::ValueView& given) {
  Value value;
  const bool is_text = type.kind == JavaKind::string;
  value.is_null = !given.is_present() || (given.bytes.empty() && type.kind != JavaKind::other && !is_text);
  if (value.is_null) return value;
  switch (unboxed(type.kind)) {
    case JavaKind::boolean:
      value.integer = given.bytes[0] != 0;
      break;
    case JavaKind::float_:
      value.floating = types::decode_float(given.bytes);
      break;
    case JavaKind::double_:
      value.floating = types::decode_double(given.bytes);
      break;
    case JavaKind::string:
      value.text = to_utf16(given.bytes);
      break;
    case JavaKind::other:
      value.bytes = base::Bytes(given.bytes);
      break;
    default:
      value.integer = types::decode_integer(cql.kind(), given.bytes);
  }
  return value;
}

base::Result<base::Bytes> write_value(const Type& type, const types::Type& cql, const Value& value) {
  switch (unboxed(type.kind)) {
    case JavaKind::boolean:
      return types::encode_boolean(value.integer != 0);
    case JavaKind::float_:
      return types::encode_float(static_cast<float>(value.floating));
    case JavaKind::double_:
      return types::encode_double(value.floating);
    case JavaKind::string: {
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
    case JavaKind::other:
      return value.bytes;
    case JavaKind::byte_:
      return types::encode_int8(static_cast<int8_t>(value.integer));
    case JavaKind::short_:
      return types::encode_int16(static_cast<int16_t>(value.integer));
    case JavaKind::int_:
      return types::encode_int32(static_cast<int32_t>(value.integer));
    default:
      return types::encode_int64(value.integer);
  }
}

}  // namespace sibyl::plan::java
