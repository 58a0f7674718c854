#include "types/keys/key_decode.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "types/custom_class.h"
#include "types/decimal.h"
#include "types/keys/key_internal.h"
#include "types/number.h"
#include "types/uuid.h"
#include "types/vint.h"

namespace sibyl::types {
namespace {

using namespace key_internal;

// Reads the bytes of a component, and complements them if the component is descending.
class KeyReader {
 public:
  KeyReader(BytesView key, bool descending) : rest_(key), mask_(descending ? 0xff : 0) {}

  BytesView rest() const { return rest_; }
  void flip() { mask_ ^= 0xff; }

  bool byte(unsigned char& value) {
    if (rest_.empty()) return false;
    value = static_cast<unsigned char>(rest_[0]) ^ mask_;
    rest_.remove_prefix(1);
    return true;
  }

  template <typename Unsigned>
  bool number(Unsigned& value) {
    if (rest_.size() < sizeof(Unsigned)) return false;
    value = base::read_big_endian<Unsigned>(rest_);
    if (mask_ != 0) value = static_cast<Unsigned>(~value);
    rest_.remove_prefix(sizeof(Unsigned));
    return true;
  }

  bool copy(size_t size, Bytes& out) {
    if (rest_.size() < size) return false;
    const size_t start = out.size();
    out.append(rest_.substr(0, size));
    if (mask_ != 0) complement(out, start);
    rest_.remove_prefix(size);
    return true;
  }

  // Reads escaped bytes up to their terminator.
  bool raw(Bytes& out) {
    for (;;) {
      if (rest_.empty()) return false;
      const auto* zero = static_cast<const char*>(std::memchr(rest_.data(), mask_, rest_.size()));
      if (zero == nullptr) return false;
      const auto size = static_cast<size_t>(zero - rest_.data());
      if (!copy(size, out)) return false;
      rest_.remove_prefix(1);
      unsigned char next = 0;
      if (!byte(next)) return false;
      if (next == 0x01) return true;
      if (next != 0xff) return false;
      out.push_back('\0');
    }
  }

 private:
  BytesView rest_;
  unsigned char mask_;
};

bool decode(const Type& type, KeyReader& reader, Bytes& out);

// Decodes the bytes after a component's header: nothing for an empty value, the value, or foreign bytes.
template <typename Decode>
bool decode_after_header(KeyReader& reader, Bytes& out, Decode decode_present) {
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  if (header == header_empty) return true;
  if (header == header_foreign) return reader.raw(out);
  return header == header_present && decode_present();
}

template <typename Unsigned, typename Restore>
bool decode_fixed(KeyReader& reader, Bytes& out, Restore restore) {
  return decode_after_header(reader, out, [&] {
    Unsigned value = 0;
    if (!reader.number(value)) return false;
    base::append_big_endian<Unsigned>(out, restore(value));
    return true;
  });
}

template <typename Unsigned>
bool decode_integer_key(KeyReader& reader, Bytes& out) {
  constexpr auto sign = static_cast<Unsigned>(Unsigned{1} << (sizeof(Unsigned) * 8 - 1));
  return decode_fixed<Unsigned>(reader, out,
                                [](Unsigned value) { return static_cast<Unsigned>(value ^ sign); });
}

template <typename Unsigned>
bool decode_float_key(KeyReader& reader, Bytes& out) {
  constexpr Unsigned sign = Unsigned{1} << (sizeof(Unsigned) * 8 - 1);
  return decode_fixed<Unsigned>(reader, out,
                                [](Unsigned value) { return (value & sign) != 0 ? value ^ sign : ~value; });
}

bool decode_boolean_key(KeyReader& reader, Bytes& out) {
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  if (header == header_foreign) return reader.raw(out);
  if (header > boolean_true) return false;
  if (header != header_empty) out.push_back(header == boolean_true ? '\1' : '\0');
  return true;
}

bool decode_uuid_key(Kind kind, KeyReader& reader, Bytes& out) {
  return decode_after_header(reader, out, [&] {
    uint64_t high = 0;
    uint64_t low = 0;
    if (!reader.number(high) || !reader.number(low)) return false;
    const bool time = kind == Kind::timeuuid;
    base::append_big_endian(out, time ? restore_time_high(high) : restore_uuid_high(high));
    base::append_big_endian(out, time ? low ^ signed_bytes_mask : low);
    return true;
  });
}

bool decode_varint_key(KeyReader& reader, Bytes& out) {
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  if (header == header_empty) return true;
  uint32_t size = 0;
  if (header == varint_long_positive || header == varint_long_negative) {
    if (!reader.number(size)) return false;
    if (header == varint_long_negative) size = ~size;
  } else {
    size = header > varint_middle ? header - varint_middle : varint_middle - header;
    if (size == 0 || size > varint_short_size) return false;
  }
  return reader.copy(size, out);
}

bool decode_exponent(KeyReader& reader, int64_t& exponent) {
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  const int64_t distance = header - exponent_middle;
  if (std::abs(distance) <= exponent_short) {
    exponent = distance;
    return true;
  }
  const int64_t size = std::abs(distance) - exponent_short;
  if (size > 8) return false;
  uint64_t magnitude = 0;
  for (int64_t i = 0; i < size; ++i) {
    unsigned char byte = 0;
    if (!reader.byte(byte)) return false;
    magnitude = (magnitude << 8) | (distance < 0 ? static_cast<unsigned char>(~byte) : byte);
  }
  // Scales are 32 bits wide and values at most 4 GiB long, so no exponent that we wrote is near this.
  constexpr uint64_t limit = uint64_t{1} << 40;
  if (magnitude > limit) return false;
  exponent = distance < 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

// Writes 100 rather than 1E+2 if that is short, because 100 is the usual spelling.
bool append_canonical_decimal(bool negative, int64_t exponent, std::string digits, Bytes& out) {
  digits.resize(digits.find_last_not_of('0') + 1);
  if (digits.empty() || digits[0] == '0') return false;
  int64_t scale = static_cast<int64_t>(digits.size()) - exponent;
  constexpr int64_t max_zeros = 32;
  constexpr int64_t least_scale = std::numeric_limits<int32_t>::min();
  const int64_t wanted = scale < 0 && scale >= -max_zeros ? 0 : std::max(scale, least_scale);
  if (wanted - scale > (1 << 20) || wanted > std::numeric_limits<int32_t>::max()) return false;
  digits.append(static_cast<size_t>(wanted - scale), '0');
  BigInteger unscaled(digits);
  out.append(encode_decimal(negative ? BigInteger(-unscaled) : unscaled, static_cast<int32_t>(wanted)));
  return true;
}

bool decode_decimal_key(KeyReader& reader, Bytes& out) {
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  if (header == header_empty) return true;
  if (header == header_foreign) return reader.raw(out);
  if (header == decimal_zero) {
    out.append(encode_decimal(0, 0));
    return true;
  }
  if (header != decimal_negative && header != decimal_positive) return false;
  const bool negative = header == decimal_negative;
  if (negative) reader.flip();
  int64_t exponent = 0;
  std::string digits;
  if (!decode_exponent(reader, exponent)) return false;
  for (;;) {
    unsigned char pair = 0;
    if (!reader.byte(pair) || pair > 100) return false;
    if (pair == 0) break;
    digits.push_back(static_cast<char>('0' + (pair - 1) / 10));
    digits.push_back(static_cast<char>('0' + (pair - 1) % 10));
  }
  if (negative) reader.flip();
  return append_canonical_decimal(negative, exponent, std::move(digits), out);
}

void write_count(Bytes& out, size_t at, size_t count) {
  const uint32_t value = base::to_big_endian(static_cast<uint32_t>(count));
  std::memcpy(out.data() + at, &value, sizeof value);
}

// Writes an element and its size before it. The size is filled in once the element is decoded.
bool decode_element(const Type& type, KeyReader& reader, Bytes& out) {
  const size_t start = out.size();
  out.append(4, '\0');
  if (!decode(type, reader, out)) return false;
  write_count(out, start, out.size() - start - 4);
  return true;
}

bool decode_elements(const Type& type, KeyReader& reader, Bytes& out) {
  const size_t start = out.size();
  if (type.is_collection()) out.append(4, '\0');
  const size_t width = type.parameters().size();
  size_t count = 0;
  for (;; ++count) {
    unsigned char marker = 0;
    if (!reader.byte(marker)) return false;
    if (marker == element_end) break;
    if (!type.is_collection() && count == width) return false;
    if (marker == element_null) {
      out.append(4, '\xff');
    } else if (marker != element_present || !decode_element(*type.parameters()[count % width], reader, out)) {
      return false;
    }
  }
  if (!type.is_collection()) {
    out.append(4 * (width - count), '\xff');
    return true;
  }
  if (count % width != 0) return false;
  const auto entries = static_cast<uint32_t>(count / width);
  for (int i = 0; i < 4; ++i)
    out[start + static_cast<size_t>(i)] = static_cast<char>(entries >> (24 - 8 * i));
  return true;
}

bool decode_vector(const Type& type, KeyReader& reader, Bytes& out) {
  const Type& element = *type.element();
  Bytes value;
  for (uint32_t i = 0; i < type.dimension(); ++i) {
    if (element.fixed_size() >= 0) {
      if (!decode(element, reader, out)) return false;
      continue;
    }
    value.clear();
    if (!decode(element, reader, value)) return false;
    append_unsigned_vint(out, value.size());
    out.append(value);
  }
  return true;
}

bool decode_lexical_uuid(KeyReader& reader, Bytes& out) {
  uint64_t high = 0, low = 0;
  if (!reader.number(high) || !reader.number(low)) return false;
  constexpr uint64_t sign = uint64_t{1} << 63;
  base::append_big_endian(out, high ^ sign);
  base::append_big_endian(out, low ^ sign);
  return true;
}

// Decodes a component, and writes its value with the size before it.
bool decode_part(const ComponentType& type, KeyReader& reader, Bytes& out) {
  Bytes value;
  if (type.is_reversed) reader.flip();
  const bool decoded = decode(*type.type, reader, value);
  if (type.is_reversed) reader.flip();
  if (!decoded || value.size() > UINT16_MAX) return false;
  base::append_big_endian(out, static_cast<uint16_t>(value.size()));
  out += value;
  return true;
}

// A component of a dynamic composite. Its type is written as a class name, even if the original had an alias.
bool decode_dynamic_part(KeyReader& reader, Bytes& out) {
  Bytes name;
  if (!reader.raw(name)) return false;
  const Bytes written = name.substr(name.rfind('\n') + 1);
  const ComponentType type = component_of_class(written);
  if (!type.type) return false;
  base::append_big_endian(out, static_cast<uint16_t>(written.size()));
  out += written;
  return decode_part(type, reader, out);
}

bool decode_composite(const CustomClass& custom, unsigned char header, KeyReader& reader, Bytes& out) {
  if (header != composite_static && header != composite_plain) return false;
  if (header == composite_static) out.append(2, '\xff');
  for (size_t i = 0;; ++i) {
    unsigned char marker = 0, end = 0;
    if (!reader.byte(marker)) return false;
    if (marker == element_end) return true;
    const bool is_dynamic = custom.form == CustomClass::Form::dynamic_composite;
    if (marker != element_present || (!is_dynamic && i >= custom.components.size())) return false;
    if (!(is_dynamic ? decode_dynamic_part(reader, out) : decode_part(custom.components[i], reader, out)))
      return false;
    if (!reader.byte(end)) return false;
    out.push_back(static_cast<char>(static_cast<char>(end) ^ composite_end_sign));
  }
}

bool decode_custom(const Type& type, KeyReader& reader, Bytes& out) {
  const auto custom = find_custom_class(type);
  if (!custom) return reader.raw(out);
  if (custom->form == CustomClass::Form::lexical_uuid)
    return decode_after_header(reader, out, [&] { return decode_lexical_uuid(reader, out); });
  unsigned char header = 0;
  if (!reader.byte(header)) return false;
  if (header == header_empty) return true;
  if (header == header_foreign) return reader.raw(out);
  return decode_composite(*custom, header, reader, out);
}

bool decode(const Type& type, KeyReader& reader, Bytes& out) {
  switch (type.kind()) {
    case Kind::int_:
      return decode_integer_key<uint32_t>(reader, out);
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
      return decode_integer_key<uint64_t>(reader, out);
    case Kind::smallint:
      return decode_integer_key<uint16_t>(reader, out);
    case Kind::tinyint:
      return decode_integer_key<uint8_t>(reader, out);
    case Kind::date:
      return decode_fixed<uint32_t>(reader, out, [](uint32_t value) { return value; });
    case Kind::time:
      return decode_fixed<uint64_t>(reader, out, [](uint64_t value) { return value; });
    case Kind::float_:
      return decode_float_key<uint32_t>(reader, out);
    case Kind::double_:
      return decode_float_key<uint64_t>(reader, out);
    case Kind::uuid:
    case Kind::timeuuid:
      return decode_uuid_key(type.kind(), reader, out);
    case Kind::boolean:
      return decode_boolean_key(reader, out);
    case Kind::varint:
      return decode_varint_key(reader, out);
    case Kind::decimal:
      return decode_decimal_key(reader, out);
    case Kind::empty:
      return decode_after_header(reader, out, [] { return false; });
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
      return decode_after_header(reader, out, [&] { return decode_elements(type, reader, out); });
    case Kind::vector:
      return decode_after_header(reader, out, [&] { return decode_vector(type, reader, out); });
    case Kind::text:
    case Kind::ascii:
    case Kind::blob:
    case Kind::inet:
    case Kind::duration:
      return reader.raw(out);
    case Kind::custom:
      return decode_custom(type, reader, out);
  }
  return false;
}

std::unexpected<base::Error> corrupt() {
  return base::fail(base::ErrorCode::server, "Corrupt key: its bytes are not a value of the column's type");
}

}  // namespace

base::Result<Bytes> decode_key(const Type& type, bool descending, BytesView& key) {
  KeyReader reader(key, descending);
  Bytes value;
  if (!decode(type, reader, value)) return corrupt();
  key = reader.rest();
  return value;
}

base::Result<Bytes> decode_raw_key(BytesView& key) {
  KeyReader reader(key, false);
  Bytes value;
  if (!reader.raw(value)) return corrupt();
  key = reader.rest();
  return value;
}

}  // namespace sibyl::types
