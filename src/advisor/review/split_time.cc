// Splits partitions by time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/buckets.h"
#include "advisor/review/split.h"

namespace sibyl::advisor {
namespace {

using Want = SplitRead::Want;

// Returns the read that wants the most rows from a known point in time.
const SplitRead* newest_read(const SplitSituation& situation) {
  const SplitRead* most = nullptr;
  for (const SplitRead& read : situation.reads) {
    if (read.want != Want::newest || read.arrival <= 0) continue;
    if (most == nullptr || read.rows / read.arrival > most->rows / most->arrival) most = &read;
  }
  return most;
}

double prefixes(const SplitSituation& situation, const TimeChoice& time, const SplitRead& read) {
  if (time.modulo <= 1) return 1;
  return hash_partitions(read, basis_of(situation, time.modulo), time.modulo);
}

// The number of partitions that suffices for 95% of the reads of partitions.
double quantile_of(const SplitSituation& situation, const TimeChoice& time) {
  constexpr double rest = 0.05;
  double shares = 0;
  for (const SplitRead& read : situation.reads) shares += read.is_of_partitions() ? read.share : 0;
  const auto suffices = [&](double buckets) {
    double above = 0;
    for (const SplitRead& read : situation.reads) {
      if (!read.is_of_partitions() || buckets >= time.all) continue;
      const double weight = shares > 0 ? read.share / shares : 1;
      const TimeBucket bucket{read.arrival, time.width, read.rows};
      const bool more = time_partitions(situation, time, read) / prefixes(situation, time, read) > buckets;
      above += weight * (read.want == Want::newest ? bucket.chance_above(buckets) : more ? 1 : 0);
    }
    return above <= rest;
  };
  double least = 1, most = 1;
  while (most < time.all && !suffices(most)) most *= 2;
  for (least = std::floor(most / 2) + 1; least < most;) {
    const double middle = std::floor((least + most) / 2);
    if (suffices(middle))
      most = middle;
    else
      least = middle + 1;
  }
  return std::min(most, time.all) * time.modulo;
}

// The age of a key's oldest row at the horizon, or within its period.
double time_kept(const SplitSituation& situation) {
  if (!situation.period.empty()) return situation.period_seconds;
  const TableFacts& table = situation.table;
  const double reached = std::min(situation.model.target.horizon, table.max_prediction_seconds());
  const double before = table.rows && table.growth ? *table.rows / *table.growth : 0;
  return table.retention ? std::min(*table.retention, before + reached) : before + reached;
}

double largest_bytes(const SplitSituation& situation, double row_bytes, double width, double modulo) {
  return fullest(situation.busiest * width / modulo, situation.partitions * modulo) * row_bytes;
}

// The longest period whose rows fit the target, by bisection.
double longest(const SplitSituation& situation, double row_bytes, double modulo) {
  const double target = situation.model.target.partition_bytes;
  double from = 0, to = target / std::max(1e-12, situation.busiest / modulo * row_bytes);
  for (int i = 0; i < 60; ++i) {
    const double middle = (from + to) / 2;
    (largest_bytes(situation, row_bytes, middle, modulo) > target ? to : from) = middle;
  }
  return from;
}

TimeChoice choice_of(const SplitSituation& situation, double width, double modulo, double row_bytes) {
  const ReviewTarget& target = situation.model.target;
  TimeChoice out;
  out.width = width;
  out.modulo = modulo;
  out.all = std::ceil(time_kept(situation) / width) + (situation.period.empty() ? 1 : 0);
  const Taken taken = [&](const SplitRead& read) { return time_partitions(situation, out, read); };
  if (const SplitRead* newest = newest_read(situation)) {
    out.newest = newest->rows;
    out.expected = taken(*newest);
    const double prefixed = prefixes(situation, out, *newest);
    out.expected_p95 =
        prefixed * std::min(out.all, TimeBucket{newest->arrival, width, newest->rows}.quantile(0.95));
    out.bounded = newest->rows / newest->arrival > width * rounding;
  }
  Choice& choice = out.choice;
  choice.name = "time bucket of " + duration_text(width);
  if (modulo > 1) choice.name += fmt::format(" and hash prefix modulo {:.0f}", modulo);
  choice.width = width;
  choice.modulo = modulo > 1 ? modulo : 0;
  choice.largest_bytes = largest_bytes(situation, row_bytes, width, modulo);
  choice.hottest_rate = situation.rate / modulo;
  choice.fits = choice.largest_bytes <= target.partition_bytes * rounding &&
                choice.hottest_rate <= target.partition_rate * rounding;
  choice.partitions = mean_of(situation, taken);
  choice.partitions_p95 = quantile_of(situation, out);
  // The cost counts partitions, whatever the number of requests, as it does for hash prefixes.
  choice.cost = cost_of(situation, taken, 1);
  return out;
}

}  // namespace

double time_partitions(const SplitSituation& situation, const TimeChoice& time, const SplitRead& read) {
  const double each = prefixes(situation, time, read);
  switch (read.want) {
    case Want::row:
    case Want::without_key:
      return 1;
    case Want::moment:
      return each;
    case Want::newest:
      return each * std::min(time.all, TimeBucket{read.arrival, time.width, read.rows}.expected());
    case Want::range:
      return each * (1 + situation.model.cost.range_selectivity * (time.all - 1));
    // The bucket of a key's first rows is unknown.
    case Want::first:
    case Want::whole:
      break;
  }
  return each * time.all;
}

std::vector<TimeChoice> time_choices(const SplitSituation& situation) {
  const ReviewTarget& target = situation.model.target;
  if (time_column(situation.table) == nullptr || situation.key_growth <= 0) return {};
  const double modulo = least_modulo(0, 1, situation.rate, target.partition_rate);
  if (situation.bytes <= target.partition_bytes) return {};
  const double row_bytes = situation.row_bytes(modulo > 1, true);
  const double most = longest(situation, row_bytes, modulo);
  // Enough prefixes for the write rate may make the existing period sufficient.
  if (!situation.period.empty() && most >= situation.period_seconds) return {};
  const SplitRead* newest = newest_read(situation);
  const bool more = newest == nullptr || situation.wants(Want::whole) || situation.wants(Want::range) ||
                    situation.wants(Want::first);
  const double need = newest != nullptr ? newest->rows / newest->arrival : most;
  std::vector<TimeChoice> out;
  for (const double width : bucket_widths(need, most, more))
    if (situation.period.empty() || width < situation.period_seconds)
      out.push_back(choice_of(situation, width, modulo, row_bytes));
  return out;
}

}  // namespace sibyl::advisor
