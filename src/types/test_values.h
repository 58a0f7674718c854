// Random types and values for property tests (RapidCheck). Call these inside a property.
//
// The domains are small on purpose: values must often be equal, or differ only in a prefix, an escape or a
// sign.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "types/custom_class.h"
#include "types/elements.h"
#include "types/number.h"
#include "types/type.h"
#include "types/type_name.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::types::testing {

inline const std::vector<Kind>& scalar_kinds() {
  static const std::vector<Kind> kinds = {Kind::ascii,   Kind::bigint,  Kind::blob,      Kind::boolean,
                                          Kind::date,    Kind::decimal, Kind::double_,   Kind::duration,
                                          Kind::float_,  Kind::inet,    Kind::int_,      Kind::smallint,
                                          Kind::text,    Kind::time,    Kind::timestamp, Kind::timeuuid,
                                          Kind::tinyint, Kind::uuid,    Kind::varint};
  return kinds;
}

inline size_t below(size_t limit) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<size_t>(0, limit));
}
inline bool one_in(size_t n) {
  return below(n) == 0;
}
template <typename T>
T any_of(const std::vector<T>& values) {
  return values[below(values.size())];
}
template <typename T>
T any_integer() {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<T>());
}

inline TypePtr arbitrary_custom_type() {
  const auto component = [] {
    const std::string name = scalar(any_of(scalar_kinds()))->class_name();
    return one_in(4) ? "ReversedType(" + name + ")" : name;
  };
  if (one_in(3)) return parse_class_name("LexicalUUIDType");
  if (one_in(2)) return parse_class_name("CompositeType(" + component() + "," + component() + ")");
  return parse_class_name("DynamicCompositeType(a=>" + component() + ",b=>" + component() + ")");
}

inline TypePtr arbitrary_type(int depth) {
  const size_t choice = depth <= 0 ? 0 : below(11);
  switch (choice) {
    case 4:
      return list_of(arbitrary_type(depth - 1), !one_in(3));
    case 5:
      return set_of(arbitrary_type(depth - 1), !one_in(3));
    case 6:
      return map_of(arbitrary_type(depth - 1), arbitrary_type(depth - 1), !one_in(3));
    case 7:
    case 8: {
      std::vector<TypePtr> components;
      for (size_t i = 0, count = 1 + below(3); i < count; ++i)
        components.push_back(arbitrary_type(depth - 1));
      if (choice == 7) return tuple_of(components);
      std::vector<std::string> names = {"a", "Quoted name", "select"};
      names.resize(components.size());
      return udt_of("ks", one_in(2) ? "point" : "My Type", names, components, one_in(2));
    }
    case 9:
      return vector_of(arbitrary_type(depth - 1), static_cast<uint32_t>(1 + below(3)));
    case 10:
      return arbitrary_custom_type();
    default:
      return scalar(any_of(scalar_kinds()));
  }
}

template <typename Integer>
Integer interesting_integer() {
  using Limits = std::numeric_limits<Integer>;
  if (one_in(3)) return any_integer<Integer>();
  return any_of<Integer>(
      {0, 1, -1, 2, 127, -128, Limits::max(), Limits::min(), static_cast<Integer>(Limits::max() - 1)});
}

inline Bytes pieces(const std::vector<std::string>& alphabet) {
  Bytes bytes;
  for (size_t i = 0, count = below(5); i < count; ++i) bytes += any_of(alphabet);
  return bytes;
}

inline Bytes arbitrary_varint() {
  Bytes bytes = encode_varint(BigInteger(interesting_integer<int64_t>()));
  if (one_in(4))
    bytes = encode_varint(BigInteger(interesting_integer<int64_t>()) << static_cast<unsigned>(below(2000)));
  if (one_in(4)) bytes.insert(0, below(3), (bytes[0] & 0x80) != 0 ? '\xff' : '\0');  // not minimal
  return bytes;
}

inline Bytes arbitrary_decimal() {
  const auto scale =
      any_of<int32_t>({0, 0, 1, 2, -1, -2, 3, 40, -40, 1000, std::numeric_limits<int32_t>::max(),
                       std::numeric_limits<int32_t>::min()});
  const auto digits = any_of<int64_t>({0, 1, -1, 10, -10, 100, 12, 120, 1200, -1200, 99, 999, -999, 1000001});
  if (one_in(3)) return encode_int32(scale) + arbitrary_varint();
  return encode_decimal(digits, scale);
}

template <typename Float, typename Bits>
Float arbitrary_float() {
  using Limits = std::numeric_limits<Float>;
  if (one_in(3)) return std::bit_cast<Float>(any_integer<Bits>());
  return any_of<Float>({0, -Float{0}, 1, -1, Float{0.1f}, Limits::infinity(), -Limits::infinity(),
                        Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::denorm_min(), Limits::max(),
                        Limits::lowest()});
}

inline Bytes arbitrary_uuid(bool time) {
  Bytes uuid;
  for (int i = 0; i < 16; ++i)
    uuid.push_back(one_in(2) ? any_of<char>({0, 1, '\x7f', '\x80', '\xff'}) : any_integer<char>());
  const int version = time ? 1 : any_of<int>({0, 1, 1, 4, 7, 15});
  uuid[6] = static_cast<char>((uuid[6] & 0x0f) | (version << 4));
  return uuid;
}

inline Duration arbitrary_duration() {
  const int sign = one_in(2) ? -1 : 1;
  const auto part = [&] {
    return sign * static_cast<int32_t>(any_of<int32_t>({0, 0, 1, 11, 12, 13, 400, 2147483647}));
  };
  const int64_t nanoseconds =
      any_of<int64_t>({0, 1, 999, 1000, 3'600'000'000'000, std::numeric_limits<int64_t>::max()});
  return {part(), part(), sign * nanoseconds};
}

Bytes arbitrary_value(const Type& type, bool may_be_empty = true);

inline Bytes arbitrary_elements(const Type& type) {
  std::vector<Bytes> owned;
  Elements elements;
  const size_t width = type.parameters().size();
  const size_t count = type.kind() == Kind::vector ? type.dimension()
                       : type.is_collection()      ? below(4) * width
                                                   : width - (one_in(4) ? below(width + 1) : 0);
  owned.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Type& element = *type.parameters()[i % width];
    const bool fixed = type.kind() == Kind::vector && element.fixed_size() >= 0;
    owned.push_back(arbitrary_value(element, !fixed));
    const bool null = (type.kind() == Kind::tuple || type.kind() == Kind::udt) && one_in(4);
    elements.push_back(null ? std::nullopt : std::optional<BytesView>(owned.back()));
  }
  normalise(type, elements);
  return join(type, elements);
}

// A value of one of the marshal classes. Components of a dynamic composite name their type by an alias or a
// class.
inline Bytes arbitrary_custom(const Type& type) {
  const auto custom = find_custom_class(type);
  if (custom->form == CustomClass::Form::lexical_uuid) return arbitrary_uuid(false);
  Bytes bytes;
  const bool is_dynamic = custom->form == CustomClass::Form::dynamic_composite;
  for (size_t i = 0, count = below(4); i < count && (is_dynamic || i < custom->components.size()); ++i) {
    TypePtr component = is_dynamic ? scalar(Kind::blob) : custom->components[i].type;
    if (is_dynamic && !custom->aliases.empty() && one_in(2)) {
      const auto alias = std::next(custom->aliases.begin(), static_cast<long>(below(custom->aliases.size())));
      component = alias->second.type;
      base::append_big_endian(bytes,
                              static_cast<uint16_t>(0x8000 | static_cast<unsigned char>(alias->first)));
    } else if (is_dynamic) {
      component = scalar(any_of(scalar_kinds()));
      const std::string name = component->class_name();
      base::append_big_endian(bytes, static_cast<uint16_t>(name.size()));
      bytes += name;
    }
    const Bytes value = arbitrary_value(*component);
    base::append_big_endian(bytes, static_cast<uint16_t>(value.size()));
    bytes += value + '\0';
  }
  if (!bytes.empty() && one_in(3)) bytes.back() = any_of<char>({1, '\xff'});
  return bytes;
}

// A valid value. It may be zero-length if both the type and the caller allow that.
inline Bytes arbitrary_value(const Type& type, bool may_be_empty) {
  if (may_be_empty && one_in(12) && validate(type, "")) return "";
  switch (type.kind()) {
    case Kind::ascii:
      return pieces({std::string(1, '\0'), "\1", "a", "b", "'", "\"", "\\", "\n"});
    case Kind::text:
      return pieces({std::string(1, '\0'), "\1", "a", "b", "'", "é", "\xc2\x80", "日", "🜁", "\x7f"});
    case Kind::custom:
      if (find_custom_class(type)) return arbitrary_custom(type);
      [[fallthrough]];
    case Kind::blob:
      return pieces({std::string(1, '\0'), "\1", "\xfe", "\xff", "a"});
    case Kind::boolean:
      return Bytes(1, any_of<char>({0, 1, 1, 2, '\xff'}));
    case Kind::tinyint:
      return encode_int8(interesting_integer<int8_t>());
    case Kind::smallint:
      return encode_int16(interesting_integer<int16_t>());
    case Kind::int_:
    case Kind::date:
      return encode_int32(interesting_integer<int32_t>());
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
    case Kind::time:
      return encode_int64(interesting_integer<int64_t>());
    case Kind::float_:
      return encode_float(arbitrary_float<float, uint32_t>());
    case Kind::double_:
      return encode_double(arbitrary_float<double, uint64_t>());
    case Kind::decimal:
      return arbitrary_decimal();
    case Kind::varint:
      return arbitrary_varint();
    case Kind::uuid:
    case Kind::timeuuid:
      return arbitrary_uuid(type.kind() == Kind::timeuuid);
    case Kind::inet:
      return one_in(2) ? encode_int32(interesting_integer<int32_t>()) : arbitrary_uuid(false);
    case Kind::duration:
      return encode_duration(arbitrary_duration());
    case Kind::empty:
      return "";
    default:
      return arbitrary_elements(type);
  }
}

}  // namespace sibyl::types::testing
