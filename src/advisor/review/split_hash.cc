// Splits partitions by a hash, and adds a second table for reads of the first rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/buckets.h"
#include "advisor/review/split.h"

namespace sibyl::advisor {
namespace {

using Want = SplitRead::Want;

constexpr double many_values = 100;  // With so many values per prefix, random variation no longer matters.

// The number of distinct values of a clustering column in a partition; nullopt: unknown.
std::optional<double> values_of(const SplitSituation& situation, const schema::Column& column) {
  using types::Kind;
  const Kind kind = column.type->kind();
  if (const std::optional<double>& distinct = situation.table.column(column).distinct) return distinct;
  if (kind == Kind::boolean) return 2;
  if (kind == Kind::uuid || kind == Kind::timeuuid) return situation.rows;
  return std::nullopt;
}

}  // namespace

HashBasis basis_of(const SplitSituation& situation, double modulo) {
  const schema::Table& table = *situation.table.table;
  HashBasis all;
  const double rows = situation.rows > 0 ? situation.rows : 1e18;
  for (size_t i = 0; i < table.clustering_count; ++i) {
    const schema::Column& column = table.clustering(i);
    const std::optional<double> values = values_of(situation, column);
    const bool asked = std::any_of(
        situation.reads.begin(), situation.reads.end(),
        [&](const SplitRead& read) { return read.is_of_partitions() && read.names({column.name}); });
    if (asked && values && std::min(*values, rows) >= many_values * modulo)
      return {{column.name}, std::min(*values, rows)};
    all.columns.push_back(column.name);
    all.values *= values.value_or(rows);
  }
  all.values = std::min(all.values, rows);
  return all;
}

double hash_partitions(const SplitRead& read, const HashBasis& basis, double modulo) {
  return read.want == Want::without_key || read.want == Want::row || read.names(basis.columns) ? 1 : modulo;
}

Choice hash_choice(const SplitSituation& situation, double modulo) {
  const ReviewTarget& target = situation.model.target;
  const HashBasis basis = basis_of(situation, modulo);
  const Taken taken = [&](const SplitRead& read) { return hash_partitions(read, basis, modulo); };
  const double share = largest_share(basis.values, modulo, situation.partitions);
  const double more = situation.row_bytes(true, false) - situation.table.row_bytes;
  Choice choice;
  choice.name = fmt::format("hash prefix modulo {:.0f}", modulo);
  choice.partitions = mean_of(situation, taken);
  choice.partitions_p95 = choice.modulo = modulo;
  choice.largest_bytes = (situation.bytes + situation.rows * more) * share;
  choice.hottest_rate = situation.rate * (basis.values >= many_values * modulo ? 1 / modulo : share);
  choice.fits = choice.largest_bytes <= target.partition_bytes * rounding &&
                choice.hottest_rate <= target.partition_rate * rounding && modulo >= situation.least;
  choice.cost = cost_of(situation, taken, 1);
  return choice;
}

double least_fitting_modulo(const SplitSituation& situation) {
  const ReviewTarget& target = situation.model.target;
  const double least = std::max(situation.least, least_modulo(situation.bytes, target.partition_bytes,
                                                              situation.rate, target.partition_rate));
  // Longer rows and random variation require a slightly larger modulo. With few values, no modulo fits.
  for (double modulo = least; modulo <= 4 * least; modulo = std::ceil(modulo * 1.002 + 1e-9)) {
    if (hash_choice(situation, modulo).fits) return modulo;
    if (modulo + 1 > 1e15) break;
  }
  return least;
}

FirstRows first_rows(const SplitSituation& situation) {
  FirstRows out;
  for (const SplitRead& read : situation.reads) {
    // Reads of the oldest rows should remember their position instead. A table of the oldest rows would never
    // change.
    if (read.want != Want::first || !read.plain || read.arrival > 0) continue;
    if (out.rows > 0 && out.reversed != read.reversed) return {};
    out = {std::max(out.rows, read.rows), read.reversed};
  }
  return out;
}

// Writes stay spread by the hash. The second table receives every write once more, in one partition per key.
// It is trimmed when it has twice the rows that reads want. Reads that want more use the hash prefixes.
std::optional<Choice> copy_choice(const SplitSituation& situation, double modulo) {
  const FirstRows first = first_rows(situation);
  if (first.rows <= 0 || modulo <= 1 || situation.is_new) return std::nullopt;
  const HashBasis basis = basis_of(situation, modulo);
  const Taken taken = [&](const SplitRead& read) {
    return read.want == Want::first && read.plain && read.arrival <= 0 ? 1
                                                                       : hash_partitions(read, basis, modulo);
  };
  Choice choice = hash_choice(situation, modulo);
  choice.name += " and a second table for reads";
  choice.second_table = true;
  choice.partitions = mean_of(situation, taken);
  choice.partitions_p95 = 1;
  for (const SplitRead& read : situation.reads)
    if (read.is_of_partitions()) choice.partitions_p95 = std::max(choice.partitions_p95, taken(read));
  choice.largest_bytes =
      std::max(choice.largest_bytes, 2 * first.rows * (situation.table.row_bytes + situation.more_bytes));
  choice.hottest_rate = situation.rate;
  choice.fits = choice.largest_bytes <= situation.model.target.partition_bytes * rounding &&
                situation.rate <= situation.model.target.partition_rate * rounding;
  choice.cost = cost_of(situation, taken, 2);
  return choice;
}

}  // namespace sibyl::advisor
