#include "types/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/statement.h"
#include "types/custom_class.h"
#include "types/decimal.h"
#include "types/uuid.h"
#include "types/value.h"
#include "types/vint.h"

namespace sibyl::types {
namespace {

template <typename T>
int order(T left, T right) {
  return (left > right) - (left < right);
}

int compare_bytes(BytesView left, BytesView right) {
  return order(left.compare(right), 0);
}

// Values of the wrong size come after all others, so that the order is total on any bytes.
template <typename Compare>
int compare_sized(BytesView left, BytesView right, bool left_valid, bool right_valid, Compare compare_valid) {
  if (left.empty() || right.empty()) return order(!left.empty(), !right.empty());
  if (left_valid && right_valid) return compare_valid();
  if (left_valid != right_valid) return left_valid ? -1 : 1;
  return compare_bytes(left, right);
}

template <typename Compare>
int compare_fixed(size_t size, BytesView left, BytesView right, Compare compare_valid) {
  return compare_sized(left, right, left.size() == size, right.size() == size, compare_valid);
}

template <typename Unsigned>
int compare_integers(BytesView left, BytesView right) {
  using Signed = std::make_signed_t<Unsigned>;
  return compare_fixed(sizeof(Unsigned), left, right, [&] {
    return order(static_cast<Signed>(base::read_big_endian<Unsigned>(left)),
                 static_cast<Signed>(base::read_big_endian<Unsigned>(right)));
  });
}

// Java's order: -0.0 before 0.0, and all NaNs are equal and follow all numbers.
template <typename Float>
int compare_floats(Float left, Float right) {
  if (left < right) return -1;
  if (left > right) return 1;
  const bool left_nan = std::isnan(left);
  const bool right_nan = std::isnan(right);
  if (left_nan || right_nan) return order(left_nan, right_nan);
  return order(!std::signbit(left), !std::signbit(right));
}

int compare_uuids(BytesView left, BytesView right) {
  return compare_fixed(16, left, right, [&] {
    const uint64_t left_high = sortable_uuid_high(base::read_big_endian<uint64_t>(left));
    const uint64_t right_high = sortable_uuid_high(base::read_big_endian<uint64_t>(right));
    if (left_high != right_high) return order(left_high, right_high);
    return compare_bytes(left.substr(8), right.substr(8));
  });
}

int compare_timeuuids(BytesView left, BytesView right) {
  return compare_fixed(16, left, right, [&] {
    const uint64_t left_high = reorder_time_high(base::read_big_endian<uint64_t>(left));
    const uint64_t right_high = reorder_time_high(base::read_big_endian<uint64_t>(right));
    if (left_high != right_high) return order(left_high, right_high);
    return order(base::read_big_endian<uint64_t>(left.substr(8)) ^ signed_bytes_mask,
                 base::read_big_endian<uint64_t>(right.substr(8)) ^ signed_bytes_mask);
  });
}

// What comes next in a serialised sequence of elements. The enumerators are in sort order: a sequence that ends
// sorts before one that continues.
enum class Token : uint8_t { end, null, element, malformed };

Token next_token(BytesView& rest, BytesView& element) {
  if (rest.empty()) return Token::end;
  if (rest.size() < 4) return Token::malformed;
  const auto size = static_cast<int32_t>(base::read_big_endian<uint32_t>(rest));
  if (size < 0) {
    rest.remove_prefix(4);
    return Token::null;
  }
  if (static_cast<size_t>(size) > rest.size() - 4) return Token::malformed;
  element = rest.substr(4, static_cast<size_t>(size));
  rest.remove_prefix(4 + static_cast<size_t>(size));
  return Token::element;
}

// Elements are compared first, then their number.
int compare_collections(const Type& type, BytesView left, BytesView right) {
  if (left.size() < 4 || right.size() < 4)
    return compare_sized(left, right, left.size() >= 4, right.size() >= 4, [] { return 0; });
  BytesView left_rest = left.substr(4);
  BytesView right_rest = right.substr(4);
  for (size_t i = 0;; ++i) {
    BytesView left_element;
    BytesView right_element;
    const Token left_token = next_token(left_rest, left_element);
    const Token right_token = next_token(right_rest, right_element);
    if (left_token != right_token) return order(left_token, right_token);
    if (left_token == Token::end) return compare_bytes(left.substr(0, 4), right.substr(0, 4));
    if (left_token == Token::malformed) return compare_bytes(left_rest, right_rest);
    if (left_token == Token::null) continue;
    const int result = compare(*type.parameters()[i % type.parameters().size()], left_element, right_element);
    if (result != 0) return result;
  }
}

bool only_nulls(BytesView rest) {
  BytesView element;
  for (;;) {
    const Token token = next_token(rest, element);
    if (token != Token::null) return token == Token::end;
  }
}

int compare_tuples(const Type& type, BytesView left, BytesView right) {
  if (left.empty() || right.empty()) return order(!left.empty(), !right.empty());
  for (const TypePtr& component : type.parameters()) {
    // If a tuple ends early, the missing components are null.
    BytesView left_element;
    BytesView right_element;
    Token left_token = next_token(left, left_element);
    Token right_token = next_token(right, right_element);
    if (left_token == Token::end) left_token = Token::null;
    if (right_token == Token::end) right_token = Token::null;
    if (left_token != right_token) return order(left_token, right_token);
    if (left_token == Token::malformed) return compare_bytes(left, right);
    if (left_token == Token::null) continue;
    if (const int result = compare(*component, left_element, right_element); result != 0) return result;
  }
  const bool left_ends = only_nulls(left);
  const bool right_ends = only_nulls(right);
  if (left_ends || right_ends) return order(!left_ends, !right_ends);
  return compare_bytes(left, right);
}

bool next_vector_element(int64_t fixed_size, BytesView& rest, BytesView& element) {
  BytesView after = rest;
  auto size = static_cast<uint64_t>(fixed_size);
  if (fixed_size < 0 && !take_unsigned_vint(after, size)) return false;
  if (size > after.size()) return false;
  element = after.substr(0, size);
  rest = after.substr(size);
  return true;
}

int compare_vectors(const Type& type, BytesView left, BytesView right) {
  if (left.empty() || right.empty()) return order(!left.empty(), !right.empty());
  const Type& element = *type.element();
  const uint32_t count = element.fixed_size() == 0 ? 0 : type.dimension();
  for (uint32_t i = 0; i < count; ++i) {
    BytesView left_element;
    BytesView right_element;
    const bool left_found = next_vector_element(element.fixed_size(), left, left_element);
    const bool right_found = next_vector_element(element.fixed_size(), right, right_element);
    if (left_found != right_found) return left_found ? -1 : 1;
    if (!left_found) break;
    if (const int result = compare(element, left_element, right_element); result != 0) return result;
  }
  return compare_bytes(left, right);
}

}  // namespace

int compare(const Type& type, BytesView left, BytesView right) {
  constexpr size_t quick_value = 1024;
  if (const size_t both = std::min(left.size(), right.size()); both > quick_value)
    base::count_work(static_cast<int64_t>(both / 4));
  switch (type.kind()) {
    case Kind::tinyint:
      return compare_integers<uint8_t>(left, right);
    case Kind::smallint:
      return compare_integers<uint16_t>(left, right);
    case Kind::int_:
      return compare_integers<uint32_t>(left, right);
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
      return compare_integers<uint64_t>(left, right);
    case Kind::boolean:
      return compare_fixed(1, left, right, [&] { return order(left[0] != 0, right[0] != 0); });
    case Kind::float_:
      return compare_fixed(4, left, right,
                           [&] { return compare_floats(decode_float(left), decode_float(right)); });
    case Kind::double_:
      return compare_fixed(8, left, right,
                           [&] { return compare_floats(decode_double(left), decode_double(right)); });
    case Kind::decimal:
      return compare_sized(left, right, left.size() >= 4, right.size() >= 4,
                           [&] { return compare_decimals(left, right); });
    case Kind::varint:
      if (left.empty() || right.empty()) return order(!left.empty(), !right.empty());
      return compare_varints(left, right);
    case Kind::uuid:
      return compare_uuids(left, right);
    case Kind::timeuuid:
      return compare_timeuuids(left, right);
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return compare_collections(type, left, right);
    case Kind::tuple:
    case Kind::udt:
      return compare_tuples(type, left, right);
    case Kind::vector:
      return compare_vectors(type, left, right);
    case Kind::date:
      return compare_fixed(4, left, right, [&] { return compare_bytes(left, right); });
    case Kind::time:
      return compare_fixed(8, left, right, [&] { return compare_bytes(left, right); });
    case Kind::empty:
      return compare_sized(left, right, false, false, [] { return 0; });
    case Kind::ascii:
    case Kind::text:
    case Kind::blob:
    case Kind::inet:
    case Kind::duration:
      return compare_bytes(left, right);
    case Kind::custom:
      return compare_custom(type, left, right);
  }
  return compare_bytes(left, right);
}

}  // namespace sibyl::types
