#include "types/literals/literal_duration.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/ascii.h"
#include "types/literals/literal_number.h"
#include "types/literals/scan.h"

namespace sibyl::types {
namespace {

using base::invalid;
using base::Status;

enum Unit : uint8_t { years = 1, months, weeks, days, hours, minutes, seconds, millis, micros, nanos };

constexpr std::array<const char*, 11> unit_names = {
    "",        "years",   "months",       "weeks",        "days",       "hours",
    "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"};

std::unexpected<base::Error> unable(std::string_view source) {
  return invalid(fmt::format("Unable to convert '{}' to a duration", source));
}

// Adds up units, which must come largest first.
class DurationBuilder {
 public:
  Status add(Unit unit, int64_t count) {
    if (unit == last_)
      return invalid(fmt::format("Invalid duration. The {} are specified multiple times", unit_names[unit]));
    if (unit < last_)
      return invalid(
          fmt::format("Invalid duration. The {} should be after {}", unit_names[last_], unit_names[unit]));
    last_ = unit;
    constexpr int64_t max_int = std::numeric_limits<int32_t>::max();
    constexpr int64_t max_long = std::numeric_limits<int64_t>::max();
    switch (unit) {
      case years:
        return add_to(months_, count, 12, max_int, "months");
      case months:
        return add_to(months_, count, 1, max_int, "months");
      case weeks:
        return add_to(days_, count, 7, max_int, "days");
      case days:
        return add_to(days_, count, 1, max_int, "days");
      case hours:
        return add_to(nanoseconds_, count, 3'600'000'000'000, max_long, "nanoseconds");
      case minutes:
        return add_to(nanoseconds_, count, 60'000'000'000, max_long, "nanoseconds");
      case seconds:
        return add_to(nanoseconds_, count, 1'000'000'000, max_long, "nanoseconds");
      case millis:
        return add_to(nanoseconds_, count, 1'000'000, max_long, "nanoseconds");
      case micros:
        return add_to(nanoseconds_, count, 1'000, max_long, "nanoseconds");
      case nanos:
        return add_to(nanoseconds_, count, 1, max_long, "nanoseconds");
    }
    return {};
  }

  Bytes build(bool negative) const {
    const int64_t sign = negative ? -1 : 1;
    return encode_duration(
        {static_cast<int32_t>(sign * months_), static_cast<int32_t>(sign * days_), sign * nanoseconds_});
  }

 private:
  static Status add_to(int64_t& total, int64_t count, int64_t size, int64_t most, const char* name) {
    // Cassandra prints the same limit for all units, even where it is wrong.
    if (count > (most - total) / size)
      return invalid(fmt::format("Invalid duration. The total number of {} must be less or equal to {}", name,
                                 std::numeric_limits<int32_t>::max()));
    total += count * size;
    return {};
  }

  uint8_t last_ = 0;
  int64_t months_ = 0;
  int64_t days_ = 0;
  int64_t nanoseconds_ = 0;
};

struct Symbol {
  std::string_view text;  // lower case
  Unit unit;
};
// Longer symbols come before their prefixes.
constexpr Symbol symbols[] = {{"mo", months}, {"ms", millis}, {"us", micros}, {"\xc2\xb5s", micros},
                              {"ns", nanos},  {"y", years},   {"w", weeks},   {"d", days},
                              {"h", hours},   {"m", minutes}, {"s", seconds}};

bool accept_symbol(Scanner& scanner, Unit& unit) {
  for (const Symbol& symbol : symbols) {
    if (!base::starts_with_ignoring_case(scanner.rest(), symbol.text)) continue;
    scanner.accept(scanner.rest().substr(0, symbol.text.size()));
    unit = symbol.unit;
    return true;
  }
  return false;
}

// 1y2mo3w4d5h6m7s8ms9us10ns
Status parse_standard(std::string_view source, DurationBuilder& builder) {
  Scanner scanner(source);
  do {
    int64_t count = 0;
    Unit unit = years;
    if (!scanner.number(1, source.size(), count) || !accept_symbol(scanner, unit)) return unable(source);
    SIBYL_TRY(builder.add(unit, count));
  } while (!scanner.at_end());
  return {};
}

// Parses an optional part of an ISO duration: a number and its letter.
Status parse_iso_part(Scanner& scanner, char letter, Unit unit, std::string_view source,
                      DurationBuilder& builder) {
  Scanner ahead = scanner;
  std::string_view digits;
  int64_t count = 0;
  if (!ahead.digits(1, source.size(), digits) || !ahead.accept(letter)) return {};
  if (!parse_integer(digits, count)) return unable(source);
  scanner = ahead;
  return builder.add(unit, count);
}

// P1Y2M3DT4H5M6S
Status parse_iso(std::string_view source, DurationBuilder& builder) {
  Scanner scanner(source.substr(1));
  SIBYL_TRY(parse_iso_part(scanner, 'Y', years, source, builder));
  SIBYL_TRY(parse_iso_part(scanner, 'M', months, source, builder));
  SIBYL_TRY(parse_iso_part(scanner, 'D', days, source, builder));
  if (scanner.accept('T')) {
    SIBYL_TRY(parse_iso_part(scanner, 'H', hours, source, builder));
    SIBYL_TRY(parse_iso_part(scanner, 'M', minutes, source, builder));
    SIBYL_TRY(parse_iso_part(scanner, 'S', seconds, source, builder));
  }
  if (!scanner.at_end()) return unable(source);
  return {};
}

// P3W
Status parse_iso_weeks(std::string_view source, DurationBuilder& builder) {
  Scanner scanner(source.substr(1));
  int64_t count = 0;
  if (!scanner.number(1, source.size(), count) || !scanner.accept('W') || !scanner.at_end())
    return unable(source);
  return builder.add(weeks, count);
}

// P0001-02-03T04:05:06
Status parse_iso_alternative(std::string_view source, DurationBuilder& builder) {
  struct Part {
    size_t digits;
    char after;
    Unit unit;
  };
  constexpr Part parts[] = {{4, '-', years}, {2, '-', months},  {2, 'T', days},
                            {2, ':', hours}, {2, ':', minutes}, {2, '\0', seconds}};
  Scanner scanner(source.substr(1));
  std::array<int64_t, std::size(parts)> counts{};
  for (size_t i = 0; i < std::size(parts); ++i) {
    if (!scanner.number(parts[i].digits, parts[i].digits, counts[i])) return unable(source);
    if (parts[i].after != '\0' && !scanner.accept(parts[i].after)) return unable(source);
  }
  if (!scanner.at_end()) return unable(source);
  for (size_t i = 0; i < std::size(parts); ++i) SIBYL_TRY(builder.add(parts[i].unit, counts[i]));
  return {};
}

}  // namespace

base::Result<Bytes> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view source = negative ? text.substr(1) : text;
  DurationBuilder builder;
  if (!source.starts_with('P'))
    SIBYL_TRY(parse_standard(source, builder));
  else if (source.ends_with('W'))
    SIBYL_TRY(parse_iso_weeks(source, builder));
  else if (source.find('-') != std::string_view::npos)
    SIBYL_TRY(parse_iso_alternative(source, builder));
  else
    SIBYL_TRY(parse_iso(source, builder));
  return builder.build(negative);
}

}  // namespace sibyl::types
