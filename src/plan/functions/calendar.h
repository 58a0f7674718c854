// The proleptic Gregorian calendar for the whole range of timestamps. The years of std::chrono do not cover
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sibyl::plan {

inline constexpr int64_t millis_per_day = 86'400'000;

inline int64_t floor_divide(int64_t value, int64_t by) {
  return value / by - (value % by != 0 && (value < 0) != (by < 0) ? 1 : 0);
}

struct CivilDate {
  int64_t year = 1970;
  int64_t month = 1;  // from 1
  int64_t day = 1;    // from 1
};

// Days since 1970. Counts in eras of 400 years that begin on 1 March.
inline int64_t days_of(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = floor_divide(year, 400);
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

inline CivilDate civil_of(int64_t days_since_1970) {
  const int64_t days = days_since_1970 + 719'468;
  const int64_t era = floor_divide(days, 146'097);
  const int64_t of_era = days - era * 146'097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t from_march = (5 * of_year + 2) / 153;
  const int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, of_year - (153 * from_march + 2) / 5 + 1};
}

// Adds months to a time in milliseconds since 1970 (keeping the day of the month, or using the month's last
// day), then milliseconds. nullopt if out of range.
inline std::optional<int64_t> add_time(int64_t millis, int64_t months, int64_t more_millis) {
  const int64_t day = floor_divide(millis, millis_per_day);
  CivilDate date = civil_of(day);
  int64_t month_index = 0, result = 0;
  if (__builtin_add_overflow(date.year * 12 + date.month - 1, months, &month_index)) return std::nullopt;
  // Far beyond any timestamp, but before the arithmetic below could overflow.
  constexpr int64_t max_months = int64_t{400'000'000} * 12;
  if (month_index > max_months || month_index < -max_months) return std::nullopt;
  date.year = floor_divide(month_index, 12);
  date.month = month_index - date.year * 12 + 1;
  const CivilDate next_month =
      date.month == 12 ? CivilDate{date.year + 1, 1, 1} : CivilDate{date.year, date.month + 1, 1};
  const int64_t first = days_of({date.year, date.month, 1});
  const int64_t landed = first + std::min(date.day, days_of(next_month) - first) - 1;
  if (__builtin_mul_overflow(landed, millis_per_day, &result)) return std::nullopt;
  if (__builtin_add_overflow(result, millis - day * millis_per_day, &result)) return std::nullopt;
  if (__builtin_add_overflow(result, more_millis, &result)) return std::nullopt;
  return result;
}

}  // namespace sibyl::plan
