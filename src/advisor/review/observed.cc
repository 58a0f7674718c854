// Copies the observations of a database into the facts of a review.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

// Shorter intervals than a second give no meaningful rate.
double observed_time(double seconds) {
  return std::max(1.0, seconds);
}

// The Zipf exponent that gives the largest of `count` keys its share; 0 if the share is nearly uniform.
double fitted_skew(std::optional<double> count, std::optional<double> share) {
  constexpr double even = 2;
  if (!count || !share || *count < 2 || *share * *count < even) return 0;
  return zipf_exponent(*count, *share);
}

std::string key_columns(const std::vector<cql::Relation>& where) {
  constexpr size_t max_columns = 3;
  std::vector<std::string> names;
  for (const cql::Relation& relation : where) {
    if (relation.target == cql::Relation::Target::token) return "by_token";
    for (const std::string& name : relation.columns) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty()) return "all";
  const bool cut = names.size() > max_columns;
  if (cut) names.resize(max_columns);
  return fmt::format("by_{}{}", fmt::join(names, "_"), cut ? "_etc" : "");
}

}  // namespace

void take_observed(const ObservedTable& observed, TableFacts& facts) {
  facts.origin = Origin::measured;
  facts.rows = observed.rows;
  facts.partitions = positive(observed.partitions);
  if (positive(facts.rows) && positive(observed.bytes)) facts.row_bytes = *observed.bytes / *facts.rows;
  facts.p50 = positive(observed.partition_rows.p50);
  facts.p90 = positive(observed.partition_rows.p90);
  facts.p99 = positive(observed.partition_rows.p99);
  facts.max = positive(observed.partition_rows.max);
  const ObservedTable::Quantiles& bytes = observed.partition_bytes;
  if (positive(bytes.p50) && positive(bytes.p99) && positive(bytes.max))
    facts.partition_bytes = Sizes{*bytes.p50, *bytes.p99, *bytes.max};
  facts.tombstones_p99 = observed.tombstones.p99;
  facts.tombstones_max = observed.tombstones.max;
  const bool clustered = facts.table->clustering_count > 0;
  const std::optional<double> total = positive(clustered ? facts.rows : observed.bytes);
  const std::optional<double> largest = clustered ? facts.max : positive(bytes.max);
  if (total && largest) facts.skew = fitted_skew(facts.partitions, std::min(1.0, *largest / *total));
  if (!observed.seconds) return;
  facts.observed_seconds = *observed.seconds;
  facts.rate_origin = Origin::measured;
  facts.reads = observed.reads / observed_time(*observed.seconds);
  facts.writes = observed.writes / observed_time(*observed.seconds);
  if (observed.hottest_read) {
    facts.read_share = observed.hottest_read->share;
    facts.read_key = observed.hottest_read->key;
  }
  if (observed.hottest_write) {
    facts.write_share = observed.hottest_write->share;
    facts.write_key = observed.hottest_write->key;
  }
  const double requests = observed.reads + observed.writes;
  if (requests > 0 && (facts.read_share || facts.write_share))
    facts.request_skew = fitted_skew(facts.partitions, (observed.reads * facts.read_share.value_or(0) +
                                                        observed.writes * facts.write_share.value_or(0)) /
                                                           requests);
}

void take_observed(const ObservedShape& observed, std::optional<double> seconds, StatementFacts& facts) {
  facts.origin = Origin::measured;
  facts.rate = observed.calls / observed_time(seconds.value_or(observed.since_first));
  facts.observed = observed;
  // Writes that do not read first have no total, only the maximum per call.
  if (observed.calls > 0 && (!facts.is_write() || observed.partitions_read > 0))
    facts.partitions = observed.partitions_read / observed.calls;
}

std::string shape_name(const cql::Statement& statement) {
  if (const auto* select = std::get_if<cql::Select>(&statement.node)) return key_columns(select->where);
  if (std::holds_alternative<cql::Insert>(statement.node)) return "insert";
  if (std::holds_alternative<cql::Update>(statement.node)) return "update";
  if (const auto* remove = std::get_if<cql::Delete>(&statement.node))
    return "delete_" + key_columns(remove->where);
  return "batch";
}

}  // namespace sibyl::advisor
