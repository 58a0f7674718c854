// Scalars to text.
#include "types/print.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "types/calendar.h"
#include "types/decimal.h"

namespace sibyl::types {
namespace {

// Prints four digits. A longer year has a sign, as in ISO 8601 and Java.
std::string format_year(int64_t year) {
  if (year > 9999) return fmt::format("+{}", year);
  if (year < 0) return fmt::format("-{:04}", -year);
  return fmt::format("{:04}", year);
}

std::string format_civil(const CivilDate& date) {
  return fmt::format("{}-{:02}-{:02}", format_year(date.year), date.month, date.day);
}

// Prints d.dddde±xx. Java always writes at least two digits, which are the digits of the nearest such number:
// 4.9E-324, not 5.0E-324.
template <typename Float>
std::string shortest_digits(Float value) {
  std::array<char, 64> buffer;
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const std::string shortest(begin, std::to_chars(begin, limit, value, std::chars_format::scientific).ptr);
  if (shortest.find('.') != std::string::npos) return shortest;
  const std::string longer(begin, std::to_chars(begin, limit, value, std::chars_format::scientific, 1).ptr);
  Float back = 0;
  std::from_chars(longer.data(), longer.data() + longer.size(), back);
  return back == value && longer[longer.find('.') + 1] != '0' ? longer : shortest;
}

// Prints the shortest digits as Java does: plain from 10^-3 up to 10^7, else d.dddE0; always a digit after
// the point.
template <typename Float>
std::string format_java(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  const std::string written = shortest_digits(value);
  std::string_view text = written;
  std::string out;
  if (text.starts_with('-')) {
    out += '-';
    text.remove_prefix(1);
  }
  const size_t mark = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + mark + (text[mark + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (mark > 2) digits += text.substr(2, mark - 2);
  if (exponent >= 7 || exponent < -3) {
    out += digits[0];
    out += '.';
    out += digits.size() > 1 ? digits.substr(1) : "0";
    return out + fmt::format("E{}", exponent);
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out += digits.substr(0, whole);
  out += '.';
  return out + (digits.size() > whole ? digits.substr(whole) : "0");
}

}  // namespace

std::string format_uuid(BytesView uuid) {
  std::string text = base::to_hex(uuid);
  if (uuid.size() != 16) return text;
  for (const size_t at : {20, 16, 12, 8}) text.insert(at, 1, '-');
  return text;
}

std::string format_inet(BytesView bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() == 4) return inet_ntop(AF_INET, bytes.data(), text.data(), text.size());
  if (bytes.size() == 16) return inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return base::to_hex(bytes);
}

std::string format_long_inet(BytesView bytes) {
  if (bytes.size() != 16) return format_inet(bytes);
  std::string text;
  for (size_t i = 0; i < 16; i += 2)
    text += fmt::format("{}{:x}", i > 0 ? ":" : "", base::read_big_endian<uint16_t>(bytes.substr(i)));
  return text;
}

std::string format_timestamp(int64_t unix_millis) {
  const int64_t days = floor_divide(unix_millis, millis_per_day);
  const int64_t rest = unix_millis - days * millis_per_day;
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", format_civil(civil_from_days(days)), rest / 3'600'000,
                     rest / 60'000 % 60, rest / 1000 % 60, rest % 1000);
}

std::string format_date(int32_t days_since_1970) {
  return format_civil(civil_from_days(days_since_1970));
}

namespace {

// Pads a negative number with one zero less than `digits`, before its sign, as Cassandra does.
std::string padded_like_cassandra(int64_t number, size_t digits) {
  if (number < 0) return std::string(digits - 1, '0') + std::to_string(number);
  return fmt::format("{:0{}}", number, digits);
}

}  // namespace

std::string format_time(int64_t nanoseconds) {
  const int64_t seconds = nanoseconds / 1'000'000'000;
  const auto part = [&](int64_t unit) { return padded_like_cassandra(nanoseconds / unit % 1000, 3); };
  return fmt::format("{}:{}:{}.{}{}{}", padded_like_cassandra(seconds / 3600, 2),
                     padded_like_cassandra(seconds / 60 % 60, 2), padded_like_cassandra(seconds % 60, 2),
                     part(1'000'000), part(1'000), part(1));
}

std::string format_duration(const Duration& duration) {
  const bool negative = duration.months < 0 || duration.days < 0 || duration.nanoseconds < 0;
  const auto absolute = [](int64_t value) {
    return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  };
  std::string text = negative ? "-" : "";
  const auto append = [&](uint64_t& rest, uint64_t size, const char* unit) {
    if (rest >= size) text += fmt::format("{}{}", rest / size, unit);
    rest %= size;
  };
  uint64_t months = absolute(duration.months);
  uint64_t days = absolute(duration.days);
  uint64_t nanos = absolute(duration.nanoseconds);
  append(months, 12, "y");
  append(months, 1, "mo");
  append(days, 1, "d");
  append(nanos, 3'600'000'000'000u, "h");
  append(nanos, 60'000'000'000u, "m");
  append(nanos, 1'000'000'000u, "s");
  append(nanos, 1'000'000u, "ms");
  append(nanos, 1'000u, "us");
  append(nanos, 1, "ns");
  return text;
}

std::string format_varint(BytesView bytes) {
  if (bytes.empty()) return "";
  const bool negative = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
  return (negative ? "-" : "") + varint_digits(bytes);
}

std::string format_decimal(BytesView bytes) {
  if (bytes.size() < 4) return "";
  const auto scale = static_cast<int64_t>(static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes)));
  std::string digits = bytes.size() == 4 ? "0" : varint_digits(bytes.substr(4));
  const bool negative = bytes.size() > 4 && (static_cast<unsigned char>(bytes[4]) & 0x80) != 0;
  const std::string sign = negative ? "-" : "";
  const auto count = static_cast<int64_t>(digits.size());
  const int64_t exponent = count - 1 - scale;
  if (scale == 0) return sign + digits;
  if (scale > 0 && exponent >= -6) {
    if (count <= scale) digits.insert(0, static_cast<size_t>(scale - count) + 1, '0');
    digits.insert(digits.size() - static_cast<size_t>(scale), 1, '.');
    return sign + digits;
  }
  if (count > 1) digits.insert(1, 1, '.');
  return sign + digits + (exponent == 0 ? "" : fmt::format("E{:+}", exponent));
}

std::string format_double(double value) {
  return format_java(value);
}
std::string format_float(float value) {
  return format_java(value);
}

}  // namespace sibyl::types
