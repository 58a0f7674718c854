#include "types/validate.h"

#include <fmt/format.h>

#include <limits>

#include "types/custom_class.h"
#include "types/text.h"
#include "types/value.h"
#include "types/vint.h"

namespace sibyl::types {
namespace {

using base::invalid;
using base::Status;

Status sized(BytesView bytes, size_t size, bool empty_allowed, const char* message) {
  if (bytes.size() == size || (empty_allowed && bytes.empty())) return {};
  return invalid(fmt::format("{} ({})", message, bytes.size()));
}

Status validate_number_size(size_t size) {
  if (size <= max_number_bytes) return {};
  return invalid(fmt::format("A number may have at most {} bytes ({})", max_number_bytes, size));
}

Status validate_ascii(BytesView bytes) {
  for (const char c : bytes)
    if (static_cast<signed char>(c) < 0)
      return invalid(
          fmt::format("Invalid byte for ascii: {}", static_cast<int>(static_cast<signed char>(c))));
  return {};
}

Status validate_timeuuid(BytesView bytes) {
  if (bytes.empty()) return {};
  SIBYL_TRY(sized(bytes, 16, true, "UUID should be 16 or 0 bytes"));
  // Cassandra reports the upper half of the first byte here, not the version.
  if ((static_cast<unsigned char>(bytes[6]) & 0xf0) != 0x10)
    return invalid(
        fmt::format("Invalid version for TimeUUID type: 0x{:x}", static_cast<unsigned char>(bytes[0]) >> 4));
  return {};
}

Status validate_duration(BytesView bytes) {
  if (bytes.size() < 3)
    return invalid(fmt::format("Expected at least 3 bytes for a duration ({})", bytes.size()));
  int64_t months = 0;
  int64_t days = 0;
  int64_t nanoseconds = 0;
  if (!take_signed_vint(bytes, months) || !take_signed_vint(bytes, days) ||
      !take_signed_vint(bytes, nanoseconds))
    return invalid("Not enough bytes to read a duration");
  const auto is_int = [](int64_t value) { return value == static_cast<int32_t>(value); };
  if (!is_int(months))
    return invalid(fmt::format("The duration months must be a 32 bits integer but was: {}", months));
  if (!is_int(days))
    return invalid(fmt::format("The duration days must be a 32 bits integer but was: {}", days));
  const bool positive = months >= 0 && days >= 0 && nanoseconds >= 0;
  const bool negative = months <= 0 && days <= 0 && nanoseconds <= 0;
  if (!positive && !negative)
    return invalid(
        fmt::format("The duration months, days and nanoseconds must be all of the same sign ({}, {}, {})",
                    months, days, nanoseconds));
  return {};
}

Status validate_collection(const Type& type, BytesView bytes) {
  const char* name = type.kind() == Kind::list ? "list" : type.kind() == Kind::set ? "set" : "map";
  const auto too_short = [&] { return invalid(fmt::format("Not enough bytes to read a {}", name)); };
  const size_t width = type.parameters().size();
  base::Reader reader(bytes);
  uint32_t count = 0;
  if (!reader.big_endian(count)) return too_short();
  if (static_cast<int32_t>(count) < 0)
    return invalid(fmt::format("The data cannot be deserialized as a {}", name));
  for (uint64_t i = 0; i < count * width; ++i) {
    uint32_t size = 0;
    BytesView element;
    if (!reader.big_endian(size)) return too_short();
    if (static_cast<int32_t>(size) < 0) return invalid("Null value read when not allowed");
    if (!reader.take(size, element)) return too_short();
    SIBYL_TRY(validate(*type.parameters()[i % width], element));
  }
  if (!reader.at_end()) return invalid(fmt::format("Unexpected extraneous bytes after {} value", name));
  return {};
}

Status validate_tuple(const Type& type, BytesView bytes) {
  base::Reader reader(bytes);
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    // Fewer components than declared are valid: fields may have been added to the type since.
    if (reader.at_end()) return {};
    uint32_t size = 0;
    BytesView component;
    if (!reader.big_endian(size))
      return invalid(fmt::format("Not enough bytes to read size of {}th component", i));
    if (static_cast<int32_t>(size) < 0) continue;
    if (!reader.take(size, component))
      return invalid(fmt::format("Not enough bytes to read {}th component", i));
    SIBYL_TRY(validate(*type.parameters()[i], component));
  }
  if (!reader.at_end()) return invalid("Invalid remaining data after end of tuple value");
  return {};
}

Status validate_udt(const Type& type, BytesView bytes) {
  base::Reader reader(bytes);
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    if (reader.at_end()) return {};
    const std::string& field = type.field_names()[i];
    uint32_t size = 0;
    BytesView value;
    if (!reader.big_endian(size))
      return invalid(fmt::format("Not enough bytes to read size of {}th field {}", i, field));
    if (static_cast<int32_t>(size) < 0) continue;
    if (!reader.take(size, value))
      return invalid(fmt::format("Not enough bytes to read {}th field {}", i, field));
    if (const Status status = validate(*type.parameters()[i], value); !status)
      return invalid(
          fmt::format("Failure validating the {}th field {}; {}", i, field, status.error().message()));
  }
  if (!reader.at_end()) return invalid("Invalid remaining data after end of UDT value");
  return {};
}

Status validate_vector(const Type& type, BytesView bytes) {
  if (bytes.empty()) return invalid("Invalid empty vector value");
  const auto too_short = [&] { return invalid("Not enough bytes to read a " + type.cql_name()); };
  const Type& element = *type.element();
  const int64_t fixed_size = element.fixed_size();
  if (fixed_size >= 0 && static_cast<int64_t>(bytes.size()) < type.fixed_size()) return too_short();
  if (fixed_size != 0) {  // elements without bytes need no check
    for (uint32_t i = 0; i < type.dimension(); ++i) {
      auto size = static_cast<uint64_t>(fixed_size);
      if (fixed_size < 0 && !take_unsigned_vint(bytes, size)) return too_short();
      if (size > bytes.size()) return too_short();
      SIBYL_TRY(validate(element, bytes.substr(0, size)));
      bytes.remove_prefix(size);
    }
  }
  if (!bytes.empty())
    return invalid(
        fmt::format("Unexpected {} extraneous bytes after {} value", bytes.size(), type.cql_name()));
  return {};
}

Status validate_text(BytesView bytes) {
  if (!is_utf8(bytes)) return invalid("String didn't validate.");
  return {};
}

Status validate_decimal(BytesView bytes) {
  if (!bytes.empty() && bytes.size() < 4)
    return invalid(fmt::format("Expected 0 or at least 4 bytes ({})", bytes.size()));
  return validate_number_size(bytes.size() < 4 ? 0 : bytes.size() - 4);
}

Status validate_inet(BytesView bytes) {
  if (!bytes.empty() && bytes.size() != 4 && bytes.size() != 16)
    return invalid("Expected 4 or 16 byte inetaddress; got " + base::to_hex(bytes));
  return {};
}

}  // namespace

Status validate(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::custom:
      return validate_custom(type, bytes);
    case Kind::blob:
      return {};
    case Kind::varint:
      return validate_number_size(bytes.size());
    case Kind::ascii:
      return validate_ascii(bytes);
    case Kind::text:
      return validate_text(bytes);
    case Kind::boolean:
      return sized(bytes, 1, true, "Expected 1 or 0 byte value");
    case Kind::tinyint:
      return sized(bytes, 1, false, "Expected 1 byte for a tinyint");
    case Kind::smallint:
      return sized(bytes, 2, false, "Expected 2 bytes for a smallint");
    case Kind::int_:
      return sized(bytes, 4, true, "Expected 4 or 0 byte int");
    case Kind::bigint:
    case Kind::counter:
      return sized(bytes, 8, true, "Expected 8 or 0 byte long");
    case Kind::timestamp:
      return sized(bytes, 8, true, "Expected 8 or 0 byte long for date");
    case Kind::date:
      return sized(bytes, 4, false, "Expected 4 byte long for date");
    case Kind::time:
      return sized(bytes, 8, false, "Expected 8 byte long for time");
    case Kind::float_:
      return sized(bytes, 4, true, "Expected 4 or 0 byte value for a float");
    case Kind::double_:
      return sized(bytes, 8, true, "Expected 8 or 0 byte value for a double");
    case Kind::decimal:
      return validate_decimal(bytes);
    case Kind::uuid:
      return sized(bytes, 16, true, "UUID should be 16 or 0 bytes");
    case Kind::timeuuid:
      return validate_timeuuid(bytes);
    case Kind::inet:
      return validate_inet(bytes);
    case Kind::duration:
      return validate_duration(bytes);
    case Kind::empty:
      if (!bytes.empty()) return invalid("EmptyType only accept empty values");
      return {};
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return validate_collection(type, bytes);
    case Kind::tuple:
      return validate_tuple(type, bytes);
    case Kind::udt:
      return validate_udt(type, bytes);
    case Kind::vector:
      return validate_vector(type, bytes);
  }
  return invalid("Unknown type");
}

}  // namespace sibyl::types
