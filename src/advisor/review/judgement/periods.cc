#include "advisor/review/judgement/periods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "advisor/review/judgement/collisions.h"
#include "base/ascii.h"

namespace sibyl::advisor {
namespace {

struct PeriodWord {
  std::string_view word;
  double seconds = 0;  // 0: the length is unknown
};

// The shortest period that a name mentions counts: `year_month` is a month.
constexpr std::array period_words = {
    PeriodWord{"minute", 60},
    PeriodWord{"quarterhour", 900},
    PeriodWord{"hour", 3600},
    PeriodWord{"yyyymmddhh", 3600},
    PeriodWord{"yyyymmdd", 86'400},
    PeriodWord{"ymd", 86'400},
    PeriodWord{"day", 86'400},
    PeriodWord{"date", 86'400},
    PeriodWord{"week", 7 * 86'400.0},
    PeriodWord{"yyyymm", 30 * 86'400.0},
    PeriodWord{"month", 30 * 86'400.0},
    PeriodWord{"quarter", 90 * 86'400.0},
    PeriodWord{"yyyy", 365 * 86'400.0},
    PeriodWord{"year", 365 * 86'400.0},
    PeriodWord{"bucket"},
    PeriodWord{"period"},
};

// Words that end like the name of a period, but are not one.
constexpr std::array other_words = {"candidate", "mandate", "update", "birthday",
                                    "birthdate", "weekday", "holiday"};

// The words of a name, in lower case.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (c == '_' || (upper && !out.back().empty() && out.back().back() >= 'a')) out.emplace_back();
    if (c != '_') out.back() += base::ascii_lower(c);
  }
  return out;
}

bool says(const std::string& word, std::string_view period) {
  const bool other = std::any_of(other_words.begin(), other_words.end(),
                                 [&](const std::string_view one) { return word.ends_with(one); });
  return !other && (word.ends_with(period) || word == std::string(period) + "s" ||
                    (word.starts_with(period) && word.ends_with("bucket")));
}

const PeriodWord* period_of(const std::string& name) {
  std::vector<std::string> words = words_of(name);
  // Days of a week and months of a year recur. The year of birth is not the time of the row.
  for (const char* not_meant : {"of", "birth"})
    if (std::find(words.begin(), words.end(), not_meant) != words.end()) return nullptr;
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "quarter" && words[i + 1] == "hour") words[i] += words[i + 1];
  for (const PeriodWord& period : period_words)
    if (std::any_of(words.begin(), words.end(),
                    [&](const std::string& word) { return says(word, period.word); }))
      return &period;
  return nullptr;
}

}  // namespace

bool is_named_like_period(const std::string& name) {
  return period_of(name) != nullptr;
}

bool is_period(const schema::Table& table, const schema::Column& column, const ColumnFacts& known) {
  if (!column.is_partition_key() || column.type->kind() == types::Kind::uuid) return false;
  if (known.growth)
    return !known.distinct || is_time(column) || known.ticks || is_named_like_period(column.name);
  // A partition key that is just a time identifies a single row.
  if (table.partition_key_count == 1 && table.clustering_count == 0 && !is_named_like_period(column.name))
    return false;
  return !known.distinct && (is_time(column) || known.ticks || is_named_like_period(column.name));
}

std::optional<double> usual_growth(const schema::Column& column) {
  const PeriodWord* period = period_of(column.name);
  if (period != nullptr && period->seconds > 0) return 1 / period->seconds;
  if (column.type->kind() == types::Kind::date) return 1 / 86'400.0;
  return std::nullopt;
}

std::optional<double> summaries_per_second(const TableFacts& facts) {
  constexpr double minutely = 1 / 60.0;
  double finest = 0, values = 1;
  const schema::Table& table = *facts.table;
  for (size_t i = 0; i < table.partition_key_count + table.clustering_count; ++i) {
    const schema::Column& column = table.columns[i];
    const ColumnFacts& known = facts.column(column);
    const types::Kind kind = column.type->kind();
    // A timestamp called added_date is still a point in time, not a day.
    const bool is_moment =
        kind == types::Kind::timeuuid || (column.is_clustering() && kind == types::Kind::timestamp &&
                                          column.name.find("date") != std::string::npos);
    const std::optional<double> usual = known.distinct || is_moment ? std::nullopt : usual_growth(column);
    const std::optional<double> growth = known.growth ? known.growth : usual;
    if (growth)
      finest = std::max(finest, *growth);
    else if (facts.is_time(column))
      return std::nullopt;
    else
      values *= known.distinct.value_or(std::numeric_limits<double>::infinity());
  }
  if (finest <= 0 || finest > minutely || time_of_rows(facts) != nullptr) return std::nullopt;
  return values * finest;
}

}  // namespace sibyl::advisor
