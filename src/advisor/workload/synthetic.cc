#include "advisor/workload/synthetic.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "advisor/workload/stored_size.h"
#include "types/compare.h"
#include "types/uuid.h"
#include "types/value.h"
#include "types/vint.h"

namespace sibyl::advisor {
namespace {

using base::Bytes;
using types::Kind;

constexpr int64_t first_moment = 1'704'067'200'000;  // 1 January 2024, in milliseconds
// Milliseconds; a prime, so that values do not align with calendar units.
constexpr uint64_t moments_apart = 1'013;

template <typename Unsigned>
Bytes integer(uint64_t number) {
  Bytes out;
  base::append_big_endian(out, static_cast<Unsigned>(number));
  return out;
}

// A size near the wanted one; deterministic for a given number.
size_t vary(double wanted, uint64_t number) {
  const double factor = 0.75 + 0.5 * static_cast<double>(mix(number, 77) >> 11) * 0x1p-53;
  return static_cast<size_t>(std::max(1.0, std::round(wanted * factor)));
}

// Text whose first letters encode the number, so that texts differ.
Bytes text(uint64_t number, double size) {
  Bytes out;
  const size_t length = vary(size, number);
  for (uint64_t rest = number; rest > 0; rest /= 26) out.push_back(static_cast<char>('a' + rest % 26));
  std::reverse(out.begin(), out.end());
  for (uint64_t i = 0; out.size() < length; ++i) {
    uint64_t letters = mix(number, i);
    for (int j = 0; j < 12 && out.size() < length; ++j, letters /= 26)
      out.push_back(static_cast<char>('a' + letters % 26));
  }
  return out;
}

Bytes blob(uint64_t number, double size) {
  Bytes out = integer<uint64_t>(mix(number));
  const size_t length = vary(size, number);
  for (uint64_t i = 0; out.size() < length; ++i) base::append_big_endian(out, mix(number, i));
  out.resize(std::max<size_t>(8, length));
  return out;
}

Bytes uuid(uint64_t number) {
  const uint64_t high = (mix(number, 1) & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (mix(number, 2) & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return integer<uint64_t>(high) + integer<uint64_t>(low);
}

// Larger numbers give later uuids.
Bytes time_uuid(uint64_t milliseconds, uint64_t number) {
  constexpr uint64_t ticks_to_epoch = 0x01b2'1dd2'1381'4000;  // 100 ns intervals since 1582
  const uint64_t ticks = ticks_to_epoch + (static_cast<uint64_t>(first_moment) + milliseconds) * 10'000;
  const uint64_t high = (ticks << 32) | ((ticks >> 16) & 0xffff'0000u) | ((ticks >> 48) & 0x0fff) | 0x1000;
  const uint64_t low = (mix(number, 3) & 0x3fff'ffff'ffff'ffff) | (uint64_t{2} << 62);
  return integer<uint64_t>(high) + integer<uint64_t>(low);
}

Bytes varint(uint64_t number) {
  const Bytes whole = integer<uint64_t>(number);
  size_t first = 0;
  while (first < 7 && whole[first] == 0 && static_cast<signed char>(whole[first + 1]) >= 0) ++first;
  return whole.substr(first);
}

Bytes with_length(const Bytes& value) {
  return integer<uint32_t>(value.size()) + value;
}

Bytes collection(const types::Type& type, uint64_t number, double size, double elements) {
  const auto parts = static_cast<double>(type.parameters().size());
  double declared = elements > 0 ? elements : 4;
  // The size of each part.
  double each = size > 0 ? std::max(1.0, ((size - 4) / declared - 4 * parts) / parts) : 0;
  if (size > 0 && elements <= 0) {
    double usual = 0;
    for (const types::TypePtr& part : type.parameters()) usual += 4 + value_size(*part, 0, 0);
    declared = std::max(1.0, (size - 4) / usual);
    each = 0;
  }
  const size_t count = vary(declared, mix(number, 5));
  std::vector<std::pair<Bytes, Bytes>> entries;
  for (size_t i = 0; i < count; ++i) {
    Bytes first = synthetic_value(*type.parameters()[0], mix(number, i) % 1'000'000, each);
    Bytes second = type.kind() == Kind::map
                       ? synthetic_value(*type.map_value(), mix(number, i + 1000) % 1'000'000, each)
                       : Bytes();
    entries.emplace_back(std::move(first), std::move(second));
  }
  if (type.kind() != Kind::list) {
    const auto compare = [&](const auto& left, const auto& right) {
      return types::compare(*type.parameters()[0], left.first, right.first) < 0;
    };
    std::sort(entries.begin(), entries.end(), compare);
    const auto same = [&](const auto& left, const auto& right) { return !compare(left, right); };
    entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  }
  Bytes out = integer<uint32_t>(entries.size());
  for (const auto& [first, second] : entries) {
    out += with_length(first);
    if (type.kind() == Kind::map) out += with_length(second);
  }
  return out;
}

Bytes composite(const types::Type& type, uint64_t number) {
  Bytes out;
  for (size_t i = 0; i < type.parameters().size(); ++i)
    out += with_length(synthetic_value(*type.parameters()[i], i == 0 ? number : mix(number, i) % 1'000'000));
  return out;
}

Bytes vector(const types::Type& type, uint64_t number) {
  Bytes out;
  for (uint32_t i = 0; i < type.dimension(); ++i) {
    const Bytes element = synthetic_value(*type.element(), mix(number, i) % 1000);
    if (type.element()->fixed_size() < 0) types::append_unsigned_vint(out, element.size());
    out += element;
  }
  return out;
}

Bytes duration(uint64_t number) {
  Bytes out;
  types::append_signed_vint(out, 0);
  types::append_signed_vint(out, static_cast<int64_t>(number % 10'000));
  types::append_signed_vint(out, 0);
  return out;
}

// Numbers and times.
Bytes fixed(Kind kind, uint64_t number) {
  switch (kind) {
    case Kind::boolean:
      return Bytes(1, static_cast<char>(number % 2));
    case Kind::tinyint:
      return Bytes(1, static_cast<char>(number % 128));
    case Kind::smallint:
      return integer<uint16_t>(number % 32'768);
    case Kind::int_:
      return integer<uint32_t>(number % (uint64_t{1} << 31));
    case Kind::float_:
      return integer<uint32_t>(std::bit_cast<uint32_t>(static_cast<float>(number) * 1.01f));
    case Kind::double_:
      return integer<uint64_t>(std::bit_cast<uint64_t>(static_cast<double>(number) * 1.01));
    case Kind::timestamp:
      return integer<uint64_t>(static_cast<uint64_t>(first_moment) + number * moments_apart);
    case Kind::date:
      return integer<uint32_t>((uint64_t{1} << 31) + 10'000 + number % 1'000'000);
    case Kind::time:
      return integer<uint64_t>(number * 1'000'003 % 86'400'000'000'000);
    default:
      return integer<uint64_t>(number);
  }
}

}  // namespace

uint64_t mix(uint64_t value) {
  value += 0x9e37'79b9'7f4a'7c15u;
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebu;
  return value ^ (value >> 31);
}

Ranks::Ranks(uint64_t count, double exponent) : count_(std::max<uint64_t>(1, count)) {
  if (exponent <= 0) return;
  cumulative_.reserve(count_);
  double sum = 0;
  for (uint64_t rank = 1; rank <= count_; ++rank)
    cumulative_.push_back(sum += std::pow(static_cast<double>(rank), -exponent));
}

uint64_t Ranks::at(double unit) const {
  if (cumulative_.empty())
    return std::min(count_ - 1, static_cast<uint64_t>(unit * static_cast<double>(count_)));
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), unit * cumulative_.back());
  return std::min(count_ - 1, static_cast<uint64_t>(found - cumulative_.begin()));
}

Bytes synthetic_value(const types::Type& type, uint64_t number, double size, double elements) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return text(number, value_size(type, size, 0));
    case Kind::blob:
    case Kind::custom:
      return blob(number, value_size(type, size, 0));
    case Kind::uuid:
      return uuid(number);
    case Kind::timeuuid:
      return time_uuid(number * moments_apart, number);
    case Kind::varint:
      return varint(number);
    case Kind::decimal:
      return integer<uint32_t>(2) + varint(number);
    case Kind::inet:
      return integer<uint32_t>((uint64_t{10} << 24) + number % (1u << 24));
    case Kind::duration:
      return duration(number);
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return collection(type, number, size, elements);
    case Kind::tuple:
    case Kind::udt:
      return composite(type, number);
    case Kind::vector:
      return vector(type, number);
    case Kind::empty:
      return {};
    default:
      return fixed(type.kind(), number);
  }
}

int64_t synthetic_epoch() {
  return first_moment;
}

Bytes synthetic_moment(const types::Type& type, double milliseconds, uint64_t number) {
  const auto whole = static_cast<uint64_t>(std::max(0.0, milliseconds));
  if (type.kind() == Kind::timeuuid) return time_uuid(whole, number);
  const uint64_t since_epoch = static_cast<uint64_t>(first_moment) + whole;
  if (type.kind() == Kind::date) return integer<uint32_t>((uint64_t{1} << 31) + since_epoch / 86'400'000);
  return integer<uint64_t>(since_epoch);
}

}  // namespace sibyl::advisor
