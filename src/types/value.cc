#include "types/value.h"

#include <bit>

#include "types/vint.h"

namespace sibyl::types {
namespace {

template <typename Unsigned>
Bytes big_endian(Unsigned value) {
  Bytes bytes;
  base::append_big_endian(bytes, value);
  return bytes;
}

// The unsigned number that stands for 1970-01-01 in a date's bytes.
constexpr uint32_t date_epoch = 0x80000000u;

}  // namespace

Bytes encode_boolean(bool value) {
  return Bytes(1, value ? '\1' : '\0');
}
Bytes encode_int8(int8_t value) {
  return Bytes(1, static_cast<char>(value));
}
Bytes encode_int16(int16_t value) {
  return big_endian(static_cast<uint16_t>(value));
}
Bytes encode_int32(int32_t value) {
  return big_endian(static_cast<uint32_t>(value));
}
Bytes encode_int64(int64_t value) {
  return big_endian(static_cast<uint64_t>(value));
}
Bytes encode_float(float value) {
  return big_endian(std::bit_cast<uint32_t>(value));
}
Bytes encode_double(double value) {
  return big_endian(std::bit_cast<uint64_t>(value));
}
Bytes encode_date(int32_t days_since_1970) {
  return big_endian(static_cast<uint32_t>(days_since_1970) + date_epoch);
}

Bytes encode_duration(const Duration& value) {
  Bytes bytes;
  append_signed_vint(bytes, value.months);
  append_signed_vint(bytes, value.days);
  append_signed_vint(bytes, value.nanoseconds);
  return bytes;
}

bool decode_boolean(BytesView bytes) {
  return bytes[0] != 0;
}

int64_t decode_integer(Kind kind, BytesView bytes) {
  switch (kind) {
    case Kind::tinyint:
      return static_cast<int8_t>(bytes[0]);
    case Kind::smallint:
      return static_cast<int16_t>(base::read_big_endian<uint16_t>(bytes));
    case Kind::int_:
      return static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
    default:
      return static_cast<int64_t>(base::read_big_endian<uint64_t>(bytes));
  }
}

float decode_float(BytesView bytes) {
  return std::bit_cast<float>(base::read_big_endian<uint32_t>(bytes));
}
double decode_double(BytesView bytes) {
  return std::bit_cast<double>(base::read_big_endian<uint64_t>(bytes));
}

int32_t decode_date(BytesView bytes) {
  return static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes) - date_epoch);
}

Duration decode_duration(BytesView bytes) {
  int64_t months = 0;
  int64_t days = 0;
  int64_t nanoseconds = 0;
  take_signed_vint(bytes, months);
  take_signed_vint(bytes, days);
  take_signed_vint(bytes, nanoseconds);
  return {static_cast<int32_t>(months), static_cast<int32_t>(days), nanoseconds};
}

}  // namespace sibyl::types
