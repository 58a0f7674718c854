#include "types/keys/key.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "types/custom_class.h"
#include "types/decimal.h"
#include "types/elements.h"
#include "types/keys/key_internal.h"
#include "types/uuid.h"
#include "types/vint.h"

namespace sibyl::types {
namespace key_internal {
namespace {

// Declared here because collections contain components.
void append_component(const Type& type, BytesView value, Bytes& out);

void append_raw(BytesView value, Bytes& out) {
  const char* at = value.data();
  const char* end = at + value.size();
  while (at < end) {
    const auto* zero = static_cast<const char*>(std::memchr(at, 0, static_cast<size_t>(end - at)));
    if (zero == nullptr) break;
    out.append(at, static_cast<size_t>(zero - at));
    out.append("\x00\xff", 2);
    at = zero + 1;
  }
  out.append(at, static_cast<size_t>(end - at));
  out.append("\x00\x01", 2);
}

// Bytes that are not a value of their type are kept and sort after all values.
void append_foreign(BytesView value, Bytes& out) {
  out.push_back(header_foreign);
  append_raw(value, out);
}

// Appends the header and a big-endian number at once: most keys consist of these.
template <typename Unsigned>
void append_number(Unsigned value, Bytes& out) {
  char buffer[1 + sizeof(Unsigned)];
  buffer[0] = header_present;
  value = base::to_big_endian(value);
  std::memcpy(buffer + 1, &value, sizeof(Unsigned));
  out.append(buffer, sizeof buffer);
}

template <typename Unsigned, typename Transform>
void append_fixed(BytesView value, Bytes& out, Transform transform) {
  if (value.size() == sizeof(Unsigned))
    return append_number<Unsigned>(transform(base::read_big_endian<Unsigned>(value)), out);
  if (value.empty()) return out.push_back(header_empty);
  append_foreign(value, out);
}

template <typename Unsigned>
void append_integer(BytesView value, Bytes& out) {
  append_fixed<Unsigned>(value, out, [](Unsigned bits) {
    return static_cast<Unsigned>(bits ^ static_cast<Unsigned>(Unsigned{1} << (sizeof(Unsigned) * 8 - 1)));
  });
}

template <typename Unsigned>
Unsigned sortable_float(Unsigned bits) {
  using Float = std::conditional_t<sizeof(Unsigned) == 4, float, double>;
  constexpr Unsigned sign = Unsigned{1} << (sizeof(Unsigned) * 8 - 1);
  if (std::isnan(std::bit_cast<Float>(bits)))
    bits = std::bit_cast<Unsigned>(std::numeric_limits<Float>::quiet_NaN());
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

void append_boolean(BytesView value, Bytes& out) {
  if (value.size() > 1) return append_foreign(value, out);
  out.push_back(value.empty() ? header_empty : value[0] == 0 ? boolean_false : boolean_true);
}

void append_uuid(Kind kind, BytesView value, Bytes& out) {
  if (value.size() != 16) return value.empty() ? out.push_back(header_empty) : append_foreign(value, out);
  const auto high = base::read_big_endian<uint64_t>(value);
  const auto low = base::read_big_endian<uint64_t>(value.substr(8));
  const bool time = kind == Kind::timeuuid;
  append_number(time ? reorder_time_high(high) : sortable_uuid_high(high), out);
  base::append_big_endian(out, time ? low ^ signed_bytes_mask : low);
}

void append_varint(BytesView value, Bytes& out) {
  if (value.empty()) return out.push_back(header_empty);
  value = minimal_varint(value);
  const bool negative = (static_cast<unsigned char>(value[0]) & 0x80) != 0;
  const auto size = static_cast<uint32_t>(value.size());
  if (size <= varint_short_size) {
    out.push_back(static_cast<char>(negative ? varint_middle - size : varint_middle + size));
  } else {
    out.push_back(static_cast<char>(negative ? varint_long_negative : varint_long_positive));
    base::append_big_endian(out, negative ? ~size : size);
  }
  out.append(value);
}

void append_exponent(int64_t exponent, Bytes& out) {
  if (exponent >= -exponent_short && exponent <= exponent_short)
    return out.push_back(static_cast<char>(exponent_middle + exponent));
  const bool negative = exponent < 0;
  const uint64_t magnitude =
      negative ? ~static_cast<uint64_t>(exponent) + 1 : static_cast<uint64_t>(exponent);
  const int size = (64 - std::countl_zero(magnitude) + 7) / 8;
  const int64_t header = exponent_short + size;
  out.push_back(static_cast<char>(exponent_middle + (negative ? -header : header)));
  for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
    const auto byte = static_cast<unsigned char>(magnitude >> shift);
    out.push_back(static_cast<char>(negative ? ~byte : byte));
  }
}

void append_decimal(BytesView value, Bytes& out) {
  if (value.empty()) return out.push_back(header_empty);
  if (value.size() < 4) return append_foreign(value, out);
  const NormalDecimal normal = normal_decimal(value);
  out.push_back(normal.sign < 0 ? decimal_negative : normal.sign == 0 ? decimal_zero : decimal_positive);
  if (normal.sign == 0) return;
  const size_t start = out.size();
  append_exponent(normal.exponent, out);
  for (size_t i = 0; i < normal.digits.size(); i += 2) {
    const int tens = normal.digits[i] - '0';
    const int ones = i + 1 < normal.digits.size() ? normal.digits[i + 1] - '0' : 0;
    out.push_back(static_cast<char>(1 + tens * 10 + ones));
  }
  out.push_back('\0');
  if (normal.sign < 0) complement(out, start);
}

void append_elements(const Type& type, BytesView value, Bytes& out) {
  if (value.empty()) return out.push_back(header_empty);
  const base::Result<Elements> elements = split(type, value);
  if (!elements) return append_foreign(value, out);
  out.push_back(header_present);
  size_t count = elements->size();
  if (!type.is_collection())
    while (count > 0 && !(*elements)[count - 1]) --count;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<BytesView>& element = (*elements)[i];
    out.push_back(element ? element_present : element_null);
    if (element) append_component(*type.parameters()[i % type.parameters().size()], *element, out);
  }
  out.push_back(element_end);
}

void append_vector(const Type& type, BytesView value, Bytes& out) {
  if (value.empty()) return out.push_back(header_empty);
  const base::Result<Elements> elements = split(type, value);
  if (!elements) return append_foreign(value, out);
  out.push_back(header_present);
  for (const std::optional<BytesView>& element : *elements) append_component(*type.element(), *element, out);
}

void append_lexical_uuid(BytesView value, Bytes& out) {
  if (value.size() != 16) return value.empty() ? out.push_back(header_empty) : append_foreign(value, out);
  constexpr uint64_t sign = uint64_t{1} << 63;
  append_number(base::read_big_endian<uint64_t>(value) ^ sign, out);
  base::append_big_endian(out, base::read_big_endian<uint64_t>(value.substr(8)) ^ sign);
}

void append_composite(const CustomClass& custom, BytesView value, Bytes& out) {
  if (value.empty()) return out.push_back(header_empty);
  const base::Result<CompositeParts> composite = split_composite(custom, value);
  if (!composite) return append_foreign(value, out);
  out.push_back(composite->is_static ? composite_static : composite_plain);
  for (const CompositePart& part : composite->parts) {
    out.push_back(element_present);
    if (custom.form == CustomClass::Form::dynamic_composite) append_raw(sortable_class_name(part.type), out);
    encode_key(*part.type.type, part.value, part.type.is_reversed, out);
    out.push_back(static_cast<char>(part.end ^ composite_end_sign));
  }
  out.push_back(element_end);
}

void append_custom(const Type& type, BytesView value, Bytes& out) {
  const auto custom = find_custom_class(type);
  if (!custom) return append_raw(value, out);
  if (custom->form == CustomClass::Form::lexical_uuid) return append_lexical_uuid(value, out);
  append_composite(*custom, value, out);
}

bool custom_is_lossy(const Type& type) {
  const auto custom = find_custom_class(type);
  if (!custom) return false;
  if (custom->form == CustomClass::Form::dynamic_composite) return true;
  for (const ComponentType& component : custom->components)
    if (key_is_lossy(*component.type)) return true;
  return false;
}

void append_component(const Type& type, BytesView value, Bytes& out) {
  switch (type.kind()) {
    case Kind::int_:
      return append_integer<uint32_t>(value, out);
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
      return append_integer<uint64_t>(value, out);
    case Kind::smallint:
      return append_integer<uint16_t>(value, out);
    case Kind::tinyint:
      return append_integer<uint8_t>(value, out);
    case Kind::date:
      return append_fixed<uint32_t>(value, out, [](uint32_t bits) { return bits; });
    case Kind::time:
      return append_fixed<uint64_t>(value, out, [](uint64_t bits) { return bits; });
    case Kind::float_:
      return append_fixed<uint32_t>(value, out, sortable_float<uint32_t>);
    case Kind::double_:
      return append_fixed<uint64_t>(value, out, sortable_float<uint64_t>);
    case Kind::uuid:
    case Kind::timeuuid:
      return append_uuid(type.kind(), value, out);
    case Kind::boolean:
      return append_boolean(value, out);
    case Kind::varint:
      return append_varint(value, out);
    case Kind::decimal:
      return append_decimal(value, out);
    case Kind::empty:
      return value.empty() ? out.push_back(header_empty) : append_foreign(value, out);
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
      return append_elements(type, value, out);
    case Kind::vector:
      return append_vector(type, value, out);
    case Kind::text:
    case Kind::ascii:
    case Kind::blob:
    case Kind::inet:
    case Kind::duration:
      return append_raw(value, out);
    case Kind::custom:
      return append_custom(type, value, out);
  }
}

}  // namespace
}  // namespace key_internal

void encode_key(const Type& type, BytesView value, bool descending, Bytes& out) {
  const size_t start = out.size();
  key_internal::append_component(type, value, out);
  if (descending) key_internal::complement(out, start);
}

void encode_raw_key(BytesView value, Bytes& out) {
  key_internal::append_raw(value, out);
}

bool key_is_lossy(const Type& type) {
  switch (type.kind()) {
    case Kind::boolean:
    case Kind::float_:
    case Kind::double_:
    case Kind::varint:
    case Kind::decimal:
    case Kind::tuple:
    case Kind::udt:
      return true;
    case Kind::custom:
      return key_internal::custom_is_lossy(type);
    default:
      for (const TypePtr& parameter : type.parameters())
        if (key_is_lossy(*parameter)) return true;
      return false;
  }
}

Bytes serialise_partition_key(const std::vector<BytesView>& components) {
  if (components.size() == 1) return Bytes(components[0]);
  size_t size = 0;
  for (const BytesView component : components) size += component.size() + 3;
  Bytes key;
  key.reserve(size);
  for (const BytesView component : components) {
    base::append_big_endian(key, static_cast<uint16_t>(component.size()));
    key.append(component);
    key.push_back('\0');
  }
  return key;
}

base::Result<std::vector<Bytes>> split_partition_key(BytesView serialised, size_t components) {
  std::vector<Bytes> parts;
  parts.reserve(components);
  if (components == 1) {
    parts.emplace_back(serialised);
    return parts;
  }
  base::Reader reader(serialised);
  for (size_t i = 0; i < components; ++i) {
    uint16_t size = 0;
    BytesView part;
    BytesView terminator;
    if (!reader.big_endian(size) || !reader.take(size, part) || !reader.take(1, terminator))
      return base::invalid("Not enough bytes to read a composite partition key");
    parts.emplace_back(part);
  }
  if (!reader.at_end()) return base::invalid("Unexpected extraneous bytes after a composite partition key");
  return parts;
}

}  // namespace sibyl::types
