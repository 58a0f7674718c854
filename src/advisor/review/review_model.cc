#include "advisor/review/review_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "advisor/review/buckets.h"
#include "types/type.h"

namespace sibyl::advisor {
namespace {

using types::Kind;

// A value with a unit, and with one decimal if it matters.
std::string scaled(double value, const char* unit, double whole_from = 99.5) {
  if (value >= whole_from || std::abs(value - std::round(value)) < 0.05)
    return fmt::format("{:.0f}{}", value, unit);
  return fmt::format("{:.1f}{}", value, unit);
}

constexpr double few = 9.95;  // from here on, estimates need no decimals

}  // namespace

std::string count_text(double count) {
  if (count >= 1e15) return fmt::format("{:.3g}", count);
  if (count >= 1e12) return scaled(count / 1e12, "T");
  if (count >= 1e9) return scaled(count / 1e9, "G");
  if (count >= 1e6) return scaled(count / 1e6, "M");
  if (count >= 1e5) return scaled(count / 1e3, "k");
  if (count >= 1000) {
    const auto whole = static_cast<uint64_t>(std::llround(count));
    return fmt::format("{},{:03}", whole / 1000, whole % 1000);
  }
  if (count >= 1 || count == std::floor(count)) return scaled(count, "", few);
  return fmt::format("{:.2g}", count);
}

std::string count_of(double count, const char* one) {
  const std::string text = count_text(count);
  return fmt::format("{} {}{}", text, one, text == "1" ? "" : "s");
}

std::string size_text(double bytes) {
  if (bytes >= 1e18) return fmt::format("{:.3g} B", bytes);
  if (bytes >= 1e15) return scaled(bytes / 1e15, " PB");
  if (bytes >= 1e12) return scaled(bytes / 1e12, " TB");
  if (bytes >= 1e9) return scaled(bytes / 1e9, " GB");
  if (bytes >= 1e6) return scaled(bytes / 1e6, " MB");
  if (bytes >= 1e3) return scaled(bytes / 1e3, " kB");
  return fmt::format("{:.0f} B", bytes);
}

std::string time_text(double seconds) {
  if (seconds >= 1) return duration_text(seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string duration_text(double seconds) {
  struct Unit {
    double seconds;
    const char *one, *many;
  };
  constexpr std::array units = {Unit{365 * 86400.0, "year", "years"}, Unit{86400, "day", "days"},
                                Unit{3600, "hour", "hours"}, Unit{60, "minute", "minutes"},
                                Unit{1, "second", "seconds"}};
  for (const Unit& unit : units) {
    if (seconds < unit.seconds * (unit.seconds > 86400 ? 2 : 1) && unit.seconds > 1 &&
        seconds != unit.seconds)
      continue;
    const std::string number = scaled(seconds / unit.seconds, "", few);
    return number + " " + (number == "1" ? unit.one : unit.many);
  }
  return "0 seconds";
}

std::string rate_text(double per_second) {
  if (per_second >= 1) return count_text(per_second) + "/s";
  if (per_second * 3600 >= 1) return count_text(per_second * 3600) + "/h";
  return count_text(per_second * 86400) + "/d";
}

std::string cost_text(double cost) {
  if (cost >= 1000) return count_text(cost);
  return cost < 1 ? fmt::format("{:.2g}", cost) : fmt::format("{:.3g}", cost);
}

bool is_time(const schema::Column& column) {
  const Kind kind = column.type->kind();
  return kind == Kind::timestamp || kind == Kind::date || kind == Kind::timeuuid;
}

bool TableFacts::is_time(const schema::Column& one) const {
  return advisor::is_time(one) || column(one).ticks.has_value();
}

double TableFacts::ticks_per_second(const schema::Column& one) const {
  const ColumnFacts& known = column(one);
  if (one.type->kind() == Kind::timeuuid || known.is_snowflake)
    return std::numeric_limits<double>::infinity();
  if (known.ticks) return *known.ticks;
  return one.type->kind() == Kind::date ? 1 / 86'400.0 : 1000;
}

double ReviewModel::horizon_of(const TableFacts& table) const {
  return std::min(target.horizon, table.max_prediction_seconds());
}

const ColumnFacts& TableFacts::column(const schema::Column& column) const {
  return columns.at(column.name);
}

bool TableFacts::has_period() const {
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    if (column(table->partition_key(i)).is_period) return true;
  }
  return false;
}

std::optional<double> TableFacts::period_width() const {
  std::optional<double> width;
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (!facts.is_period) continue;
    if (!facts.growth) return std::nullopt;
    width = std::min(width.value_or(1 / *facts.growth), 1 / *facts.growth);
  }
  return width;
}

std::optional<double> TableFacts::keys() const {
  if (!has_period()) return partitions;
  double product = 1;
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (facts.is_period) continue;
    if (!facts.distinct) return std::nullopt;
    product *= *facts.distinct;
  }
  return product;
}

double TableFacts::key_skew() const {
  if (const std::vector<UnevenValues> columns = uneven_columns(); !columns.empty()) {
    const JointShares shares(columns);
    return zipf_exponent(shares.combinations(), shares.at(0));
  }
  double exponent = skew;
  for (size_t i = 0; i < table->partition_key_count && has_period(); ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (!facts.is_period) exponent = std::max(exponent, facts.skew);
  }
  return exponent;
}

double TableFacts::capacity_of_partition() const {
  double product = 1;
  for (size_t i = 0; i < table->clustering_count; ++i) {
    const ColumnFacts& known = column(table->clustering(i));
    if (!known.distinct || known.growth) return std::numeric_limits<double>::infinity();
    product *= *known.distinct;
  }
  return product;
}

std::optional<double> TableFacts::dominant_share() const {
  if (!max || !rows || *rows <= 0 || has_period() || table->clustering_count == 0) return std::nullopt;
  return std::min(1.0, *max / *rows);
}

double TableFacts::rows_after(double seconds) const {
  const double now = rows.value_or(0);
  if (!growth) return now;
  if (retention && seconds >= *retention) return *growth * *retention;
  double then = now + *growth * seconds;
  // Once every key has a row, new rows overwrite old ones.
  if (max_rows) then = std::min(then, std::max(now, *max_rows));
  return retention ? std::min(then, std::max(now, *growth * *retention)) : then;
}

// New values of the other key columns create new partitions.
std::optional<double> TableFacts::partitions_after(double seconds) const {
  if (!partitions) return std::nullopt;
  if (table->clustering_count == 0) return std::max(1.0, rows_after(seconds));
  double factor = 1;
  // Rows fill the possible keys one by one.
  const double now =
      possible_partitions && !p50 && !p99 && !max
          ? std::clamp(rows_after(seconds), *partitions, std::max(*partitions, *possible_partitions))
          : *partitions;
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (facts.is_period || !facts.growth || !facts.distinct) continue;
    factor *= 1 + *facts.growth * seconds / *facts.distinct;
  }
  return now * factor;
}

// A table's own skew is a skew of its partitions. A column's skew is a skew of its values.
TableFacts::Unevenness TableFacts::unevenness(double partitions) const {
  Unevenness out{skew, partitions, 1};
  if (skew > 0) return out;
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (facts.is_period || facts.skew <= out.exponent) continue;
    const double values = std::clamp(facts.distinct.value_or(partitions), 1.0, std::max(1.0, partitions));
    out = {facts.skew, values, std::max(partitions, possible_partitions.value_or(0)) / values};
  }
  return out;
}

std::vector<UnevenValues> TableFacts::uneven_columns() const {
  std::vector<UnevenValues> out;
  size_t uneven = 0;
  for (size_t i = 0; i < table->partition_key_count && skew == 0; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (facts.is_period) continue;
    if (!facts.distinct) return {};
    out.push_back({*facts.distinct, facts.skew});
    uneven += facts.skew > 0 ? 1 : 0;
  }
  return uneven >= 2 ? out : std::vector<UnevenValues>();
}

TableFacts::Rows TableFacts::distribute(double count, double parts) const {
  Rows out;
  parts = std::max(1.0, parts);
  out.mean = count / parts;
  if (table->clustering_count == 0) return {1, 1, 1, 1};
  const std::vector<UnevenValues> columns = uneven_columns();
  const Unevenness uneven = unevenness(parts);
  if (!columns.empty()) {
    const JointShares shares(columns);
    out.p50 = count * shares.at(parts * 0.5);
    out.p99 = count * shares.at(parts * 0.01);
    out.max = count * shares.at(0);
  } else if (uneven.exponent > 0) {
    const double sum = zipf_sum(uneven.values, uneven.exponent) * uneven.others;
    const auto at = [&](double rank) {
      return count * std::pow(std::max(1.0, rank), -uneven.exponent) / sum;
    };
    out.p50 = at(uneven.values * 0.5);
    out.p99 = at(uneven.values * 0.01);
    out.max = uneven.others > 1 ? fullest(at(1), uneven.others) : at(1);
  } else {
    out.p50 = out.mean;
    out.p99 = parts > 1 ? out.mean + 2.33 * std::sqrt(out.mean) : out.mean;
    out.max = fullest(out.mean, parts);
  }
  const double most = std::max(out.mean, capacity_of_partition());
  // A partition exists only if it has a row.
  const double least = std::min(1.0, count);
  for (double* one : {&out.p50, &out.p99, &out.max}) *one = std::clamp(*one, least, std::max(least, most));
  return out;
}

std::optional<TableFacts::Rows> TableFacts::rows_per_partition() const {
  std::optional<Rows> out;
  if (table->clustering_count == 0) {
    out = Rows{1, 1, 1, 1};
  } else if (rows && partitions && (*rows > 0 || !has_period())) {
    out = distribute(*rows, *partitions);
  } else if (growth && has_period()) {
    // A time bucket stops growing when its period ends: it has the rows of one period, divided among the
    // other key columns.
    double periods = 0, keys = 1;
    for (size_t i = 0; i < table->partition_key_count; ++i) {
      const ColumnFacts& facts = column(table->partition_key(i));
      const std::optional<double> factor = facts.is_period ? facts.growth : facts.distinct;
      if (!factor) return std::nullopt;
      // The shortest of several periods ends a partition.
      if (facts.is_period)
        periods = std::max(periods, *factor);
      else
        keys *= *factor;
    }
    out = distribute(*growth / periods, keys);
  }
  if (!out && growth && !rows && partitions && !has_period()) out = Rows{};  // the table starts empty
  if (!out) {
    if (!p50 && !p99 && !max) return std::nullopt;
    const double any = p50 ? *p50 : p99 ? *p99 : *max;
    out = Rows{any, any, any, any};
  }
  // If the largest partition is declared, the others share the remaining rows.
  if (max && !p50 && rows && partitions && *partitions >= 2 && *rows > *max && key_skew() == 0) {
    const double rest = (*rows - *max) / (*partitions - 1);
    out->p50 = std::min(out->p50, rest);
    if (!p99) out->p99 = *partitions < 100 ? *max : std::min(out->p99, rest + 2.33 * std::sqrt(rest));
  }
  if (p50) out->p50 = *p50;
  if (p99) out->p99 = *p99;
  if (max) out->max = *max;
  out->p99 = std::max(out->p99, out->p50);
  out->max = std::max(out->max, out->p99);
  return out;
}

std::optional<TableFacts::Rows> TableFacts::rows_per_partition_after(double seconds) const {
  const std::optional<Rows> now = rows_per_partition();
  if (!now || table->clustering_count == 0 || has_period() || !growth) return now;
  const std::optional<double> then_parts = partitions_after(seconds);
  if (!rows || *rows <= 0 || !partitions) {
    if (!then_parts) return std::nullopt;
    return distribute(rows_after(seconds), *then_parts);
  }
  if (!p50 && !p99 && !max) return distribute(rows_after(seconds), *then_parts);
  double factor = rows_after(seconds) / *rows * *partitions / *then_parts;
  if (growth_origin != Origin::measured || !observed_seconds || !write_share)
    return Rows{now->mean * factor, now->p50 * factor, now->p99 * factor, now->max * factor};
  // The hottest key keeps growing as observed. If all rows arrived during the observed period, the partitions
  // did as well, and their number keeps growing.
  constexpr double nearly_all = 0.9;
  if (*growth * *observed_seconds >= nearly_all * *rows) factor = 1;
  const double added = std::max(0.0, rows_after(seconds) - *rows);
  const double largest = std::max(now->max + added * *write_share, now->p99 * factor);
  return Rows{now->mean * factor, now->p50 * factor, now->p99 * factor, largest};
}

double TableFacts::max_prediction_seconds() const {
  constexpr double times = 100;
  const bool seen = growth_origin == Origin::measured && observed_seconds;
  return seen ? times * *observed_seconds : std::numeric_limits<double>::infinity();
}

Sizes TableFacts::bytes_of(const Rows& rows) const {
  const std::optional<Rows> now = partition_bytes ? rows_per_partition() : std::nullopt;
  const auto bytes = [&](double count) {
    return count > 0 ? count * (row_bytes - static_bytes_per_row) + static_bytes : 0;
  };
  if (!now) return {bytes(rows.p50), bytes(rows.p99), bytes(rows.max)};
  const auto scaled = [](double bytes, double before, double then) {
    return before > 0 ? bytes * then / before : bytes;
  };
  return {scaled(partition_bytes->p50, now->p50, rows.p50), scaled(partition_bytes->p99, now->p99, rows.p99),
          scaled(partition_bytes->max, now->max, rows.max)};
}

double TableFacts::hottest_share() const {
  if (!write_share) return modelled_share();
  // A period that was hot yesterday has only a small share of all writes so far.
  return has_period() ? std::max(*write_share, modelled_share()) : *write_share;
}

double TableFacts::modelled_share() const {
  if (table->clustering_count > 0 && max && rows && *rows > 0 && !has_period())
    return std::min(1.0, *max / *rows);
  if (!has_period()) {
    if (!partitions) return 0;
    if (const std::vector<UnevenValues> columns = uneven_columns(); !columns.empty())
      return JointShares(columns).at(0);
    const Unevenness uneven = unevenness(std::max(1.0, *partitions));
    if (uneven.exponent <= 0) return 1 / uneven.values;
    return 1 / (zipf_sum(uneven.values, uneven.exponent) * uneven.others);
  }
  // All current writes go to the current period.
  double share = 1;
  for (size_t i = 0; i < table->partition_key_count; ++i) {
    const ColumnFacts& facts = column(table->partition_key(i));
    if (facts.is_period) continue;
    if (!facts.distinct) return 0;
    share *= facts.skew > 0 ? 1 / zipf_sum(*facts.distinct, facts.skew) : 1 / *facts.distinct;
  }
  return share;
}

bool is_mixed(const ReviewModel& model, const std::string& written) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string folded = written;
  std::transform(folded.begin(), folded.end(), folded.begin(), lower);
  return std::any_of(model.mixed.begin(), model.mixed.end(), [&](const MixedTable& mixed) {
    const cql::QualifiedName& name = std::get<cql::CreateTable>(mixed.tree->node).table;
    return name.name == written || name.name == folded || name.keyspace + "." + name.name == written;
  });
}

Finding begin_finding(const TableFacts& table, Verdict verdict, Severity severity, std::string message) {
  Finding finding;
  finding.verdict = verdict;
  finding.severity = severity;
  finding.table = table.name;
  finding.file = table.file;
  finding.line = table.line;
  finding.message = std::move(message);
  return finding;
}

Evidence growth_evidence(const TableFacts& table) {
  const bool measured = table.growth_origin == Origin::measured && table.observed_seconds;
  return {fmt::format("{} new rows{}", rate_text(*table.growth),
                      measured ? ", observed for " + duration_text(*table.observed_seconds) : ""),
          table.growth_origin};
}

const TableFacts* ReviewModel::find(const schema::Table& table) const {
  for (const TableFacts& facts : tables) {
    if (facts.table->keyspace == table.keyspace && facts.table->name == table.name) return &facts;
  }
  return nullptr;
}

}  // namespace sibyl::advisor
