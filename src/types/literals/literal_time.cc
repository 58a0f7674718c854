#include "types/literals/literal_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/ascii.h"
#include "types/calendar.h"
#include "types/literals/literal_number.h"
#include "types/literals/scan.h"
#include "types/literals/zone.h"

namespace sibyl::types {
namespace {

constexpr int64_t nanos_per_second = 1'000'000'000;
constexpr int64_t max_years = 999'999'999;

// True for an optional minus and digits, which are always read as a number.
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Scans a date of ISO 8601: a year of four digits, or more after a sign. There is no year -0000.
bool scan_iso_date(Scanner& scanner, CivilDate& date) {
  const bool minus = scanner.accept('-');
  const bool plus = !minus && scanner.accept('+');
  std::string_view year;
  int64_t month = 0;
  int64_t day = 0;
  if (!scanner.digits(4, 10, year) || !parse_integer(year, date.year)) return false;
  if ((plus && year.size() == 4) || (!plus && !minus && year.size() > 4)) return false;
  if (minus && date.year == 0) return false;
  if (date.year > max_years) return false;
  if (minus) date.year = -date.year;
  if (!scanner.accept('-') || !scanner.number(2, 2, month) || !scanner.accept('-') ||
      !scanner.number(2, 2, day))
    return false;
  date.month = static_cast<int>(month);
  date.day = static_cast<int>(day);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// Scans a date in which each part may have any number of digits. There are no years before 1.
bool scan_loose_date(Scanner& scanner, CivilDate& date) {
  int64_t month = 0;
  int64_t day = 0;
  if (!scanner.number(1, 19, date.year) || !scanner.accept('-') || !scanner.number(1, 19, month) ||
      !scanner.accept('-') || !scanner.number(1, 19, day))
    return false;
  if (date.year < 1 || date.year > max_years || month < 1 || month > 12 || day < 1 || day > 31) return false;
  date.month = static_cast<int>(month);
  date.day = static_cast<int>(day);
  return true;
}

// Scans H:m[:s[.fraction]], in milliseconds of the day. 24:00 means the next midnight.
bool scan_time(Scanner& scanner, int64_t& millis) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t fraction_millis = 0;
  if (!scanner.number(1, 19, hour) || !scanner.accept(':') || !scanner.number(1, 19, minute)) return false;
  if (scanner.accept(':')) {
    if (!scanner.number(1, 19, second)) return false;
    if (scanner.accept('.')) {
      std::string_view fraction;
      scanner.digits(0, 9, fraction);
      for (size_t i = 0; i < 3; ++i)
        fraction_millis = fraction_millis * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    }
  }
  const bool midnight = hour == 24 && minute == 0 && second == 0 && fraction_millis == 0;
  if ((hour > 23 && !midnight) || minute > 59 || second > 59) return false;
  millis = ((hour * 60 + minute) * 60 + second) * 1000 + fraction_millis;
  return true;
}

enum class OffsetStyle : uint8_t {
  basic,    // +hh or +hhmm
  minutes,  // +hh:mm
  seconds,  // +hh:mm or +hh:mm:ss
};

// Parses all of `text` as an offset in seconds.
std::optional<int64_t> parse_offset(std::string_view text, OffsetStyle style) {
  Scanner scanner(text);
  const bool negative = scanner.accept('-');
  if (!negative && !scanner.accept('+')) return std::nullopt;
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  if (!scanner.number(2, 2, hours)) return std::nullopt;
  const bool separated = style != OffsetStyle::basic;
  if (!scanner.at_end() || separated) {
    if (separated && !scanner.accept(':')) return std::nullopt;
    if (!scanner.number(2, 2, minutes)) return std::nullopt;
  }
  if (style == OffsetStyle::seconds && scanner.accept(':') && !scanner.number(2, 2, seconds))
    return std::nullopt;
  const int64_t total = (hours * 60 + minutes) * 60 + seconds;
  if (!scanner.at_end() || minutes > 59 || seconds > 59 || total > 18 * 3600) return std::nullopt;
  return negative ? -total : total;
}

// Parses the zone after a blank: an offset, UTC with an offset, or a name.
ZoneOffset parse_spaced_zone(std::string_view text, int64_t local_millis) {
  if (text == "Z") return {0};
  if (const auto offset = parse_offset(text, OffsetStyle::basic)) return {offset};
  if (const auto offset = parse_offset(text, OffsetStyle::seconds)) return {offset};
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view rest = text.substr(prefix.size());
    if (rest.empty()) return {0};
    if (rest[0] == '+' || rest[0] == '-') return {parse_offset(rest, OffsetStyle::seconds)};
  }
  return zone_offset(text, local_millis);
}

// Parses the rest after date and time: nothing (UTC), an offset, or a blank and a zone.
ZoneOffset parse_zone(std::string_view text, int64_t local_millis, bool seconds_allowed) {
  if (text.empty() || text == "Z") return {0};
  if (text[0] == ' ') return parse_spaced_zone(text.substr(1), local_millis);
  if (const auto offset = parse_offset(text, OffsetStyle::basic)) return {offset};
  return {parse_offset(text, seconds_allowed ? OffsetStyle::seconds : OffsetStyle::minutes)};
}

// A day after the end of its month means the last day, as Java resolves it here (but not for the type date).
int64_t clamped_days(CivilDate date) {
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  return days_from_civil(date);
}

struct ParsedTimestamp {
  std::optional<int64_t> millis;
  ZoneFailure failure = ZoneFailure::unknown;
};

ParsedTimestamp finish_timestamp(int64_t days, int64_t millis_of_day, std::string_view zone,
                                 bool seconds_allowed) {
  int64_t local = 0;
  if (__builtin_mul_overflow(days, millis_per_day, &local) ||
      __builtin_add_overflow(local, millis_of_day, &local))
    return {};
  const ZoneOffset offset = parse_zone(zone, local, seconds_allowed);
  int64_t millis = 0;
  if (!offset.seconds) return {std::nullopt, offset.failure};
  if (__builtin_sub_overflow(local, *offset.seconds * 1000, &millis)) return {};
  return {millis};
}

ParsedTimestamp parse_calendar_timestamp(std::string_view text) {
  CivilDate date;
  int64_t time = 0;
  Scanner with_time(text);
  if (scan_loose_date(with_time, date) && (with_time.accept('T') || with_time.accept(' ')) &&
      scan_time(with_time, time))
    return finish_timestamp(clamped_days(date), time, with_time.rest(), false);
  Scanner date_only(text);
  if (scan_iso_date(date_only, date)) return finish_timestamp(clamped_days(date), 0, date_only.rest(), true);
  return {};
}

int64_t now_millis() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Parses hh:mm:ss[.n]. Each part may have a sign and any number of digits.
bool parse_time_of_day(std::string_view text, int64_t& nanoseconds) {
  text = trim(text);
  const size_t first = text.find(':');
  const size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (first == 0 || second == std::string_view::npos || second + 1 >= text.size()) return false;
  const size_t point = text.find('.', second + 1);
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!parse_integer(text.substr(0, first), hours) || hours < 0 || hours > 23) return false;
  if (!parse_integer(text.substr(first + 1, second - first - 1), minutes) || minutes < 0 || minutes > 59)
    return false;
  const size_t seconds_end = point == std::string_view::npos ? text.size() : point;
  if (!parse_integer(text.substr(second + 1, seconds_end - second - 1), seconds) || seconds < 0 ||
      seconds > 59)
    return false;
  if (point != std::string_view::npos) {
    Scanner fraction(text.substr(point + 1));
    std::string_view digits;
    if (!fraction.digits(1, 9, digits) || !fraction.at_end()) return false;
    for (size_t i = 0; i < 9; ++i) nanos = nanos * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  nanoseconds = ((hours * 60 + minutes) * 60 + seconds) * nanos_per_second + nanos;
  return true;
}

}  // namespace

base::Result<int64_t> parse_timestamp_millis(std::string_view text) {
  if (base::equal_ignoring_case(text, "now")) return now_millis();
  if (is_number(text)) {
    int64_t millis = 0;
    if (!parse_integer(text, millis))
      return base::invalid(fmt::format("Unable to make long (for date) from: '{}'", text));
    return millis;
  }
  const ParsedTimestamp parsed = parse_calendar_timestamp(text);
  if (parsed.millis) return *parsed.millis;
  const base::Error error(base::ErrorCode::invalid,
                          fmt::format("Unable to parse a date/time from '{}'", text));
  if (parsed.failure == ZoneFailure::ambiguous)
    return base::fail(
        error.with_hint("this time zone's abbreviation has several meanings: write the zone as an offset "
                        "(+01:00) or as a region (Europe/London)"));
  return base::fail(error);
}

base::Result<Bytes> parse_date(std::string_view text) {
  if (is_number(text)) {
    int64_t days = 0;
    if (!parse_integer(text, days) || days < 0 || days > 0xffff'ffff)
      return base::invalid(fmt::format("Unable to make unsigned int (for date) from: '{}'", text));
    return encode_int32(static_cast<int32_t>(static_cast<uint32_t>(days)));
  }
  CivilDate date;
  Scanner scanner(text);
  // Java's count of milliseconds overflows beyond this many days.
  constexpr int64_t max_days = std::numeric_limits<int64_t>::max() / millis_per_day;
  if (!scan_iso_date(scanner, date) || !scanner.at_end() || date.day > days_in_month(date.year, date.month) ||
      std::abs(days_from_civil(date)) > max_days)
    return base::invalid(fmt::format("Unable to coerce '{}' to a formatted date (long)", text));
  const int64_t days = days_from_civil(date);
  if (days < std::numeric_limits<int32_t>::min())
    return base::invalid(
        fmt::format("Input date {} is less than min supported date -5877641-06-23T00:00Z", text));
  if (days > std::numeric_limits<int32_t>::max())
    return base::invalid(
        fmt::format("Input date {} is greater than max supported date +5881580-07-11T00:00Z", text));
  return encode_date(static_cast<int32_t>(days));
}

base::Result<Bytes> parse_time(std::string_view text) {
  int64_t nanoseconds = 0;
  if (is_number(text)) {
    if (!parse_integer(text, nanoseconds) || nanoseconds < 0 || nanoseconds >= 86400 * nanos_per_second)
      return base::invalid(fmt::format("Unable to make long (for time) from: '{}'", text));
  } else if (!parse_time_of_day(text, nanoseconds)) {
    return base::invalid(fmt::format("(TimeType) Unable to coerce '{}' to a formatted time (long)", text));
  }
  return encode_int64(nanoseconds);
}

}  // namespace sibyl::types
