// Days and dates of the proleptic Gregorian calendar, as in ISO 8601 and Java.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sibyl::types {

inline constexpr int64_t millis_per_day = 86'400'000;

// Rounds towards minus infinity.
inline constexpr int64_t floor_divide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor != 0 && (value < 0) != (divisor < 0) ? 1 : 0);
}

struct CivilDate {
  int64_t year = 1970;
  int month = 1;  // from 1
  int day = 1;    // from 1
};

// Both count days from 1970-01-01 and are correct for every 32-bit year. Internally years begin in March, so
// that the leap day is the last day of a year.
inline constexpr int64_t days_from_civil(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

inline constexpr CivilDate civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const auto month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

inline constexpr bool is_leap_year(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

inline constexpr int days_in_month(int64_t year, int month) {
  if (month == 2) return is_leap_year(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Adds months to a time in milliseconds since 1970, then milliseconds. Keeps the day of the month, or uses
// the last day of the month. nullopt if the result is out of range.
inline std::optional<int64_t> add_time(int64_t millis, int64_t months, int64_t more_millis) {
  const int64_t day = floor_divide(millis, millis_per_day);
  CivilDate date = civil_from_days(day);
  int64_t month_index = 0, result = 0;
  if (__builtin_add_overflow(date.year * 12 + date.month - 1, months, &month_index)) return std::nullopt;
  // This is far beyond any timestamp, but small enough that the arithmetic below cannot overflow.
  constexpr int64_t max_months = int64_t{400'000'000} * 12;
  if (month_index > max_months || month_index < -max_months) return std::nullopt;
  date.year = floor_divide(month_index, 12);
  date.month = static_cast<int>(month_index - date.year * 12 + 1);
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  const int64_t landed = days_from_civil(date);
  if (__builtin_mul_overflow(landed, millis_per_day, &result)) return std::nullopt;
  if (__builtin_add_overflow(result, millis - day * millis_per_day, &result)) return std::nullopt;
  if (__builtin_add_overflow(result, more_millis, &result)) return std::nullopt;
  return result;
}

}  // namespace sibyl::types
