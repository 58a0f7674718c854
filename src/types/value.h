// Values as bytes, and the bytes of scalars.
//
// The functions of this folder are pure and thread-safe. None throws on any bytes. For bytes that are not a
// value of the type, validate() returns an Error and compare() compares them as raw bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"

namespace sibyl::types {

using base::Bytes;
using base::BytesView;

// A value in a statement: null, unset (do not change the column), or bytes. Zero-length bytes are a value of
// their own ("empty"), different from null.
struct ValueView {
  enum class State : uint8_t { null, unset, present };
  State state = State::null;
  BytesView bytes;

  static ValueView null() { return {}; }
  static ValueView unset() { return {State::unset, {}}; }
  static ValueView of(BytesView bytes) { return {State::present, bytes}; }
  bool is_null() const { return state == State::null; }
  bool is_unset() const { return state == State::unset; }
  bool is_present() const { return state == State::present; }
};

// varint and decimal have no bound in Cassandra. Here they are limited to this size (about 157,000 digits),
// because printing and comparing them takes quadratic time.
inline constexpr size_t max_number_bytes = 65535;

// --- Scalars. Encoders return CQL bytes; decoders require validated, non-empty bytes. For varint and decimal
// see number.h.
Bytes encode_boolean(bool value);
Bytes encode_int8(int8_t value);    // tinyint
Bytes encode_int16(int16_t value);  // smallint
Bytes encode_int32(int32_t value);  // int
Bytes encode_int64(int64_t value);  // bigint, counter, timestamp (ms), time (ns)
Bytes encode_float(float value);
Bytes encode_double(double value);
Bytes encode_date(int32_t days_since_1970);
struct Duration {
  int32_t months = 0;
  int32_t days = 0;
  int64_t nanoseconds = 0;
};
Bytes encode_duration(const Duration& value);

bool decode_boolean(BytesView bytes);
// The value of a tinyint, smallint, int, bigint, counter, timestamp or time.
int64_t decode_integer(Kind kind, BytesView bytes);
float decode_float(BytesView bytes);
double decode_double(BytesView bytes);
int32_t decode_date(BytesView bytes);  // days since 1970
Duration decode_duration(BytesView bytes);

}  // namespace sibyl::types
