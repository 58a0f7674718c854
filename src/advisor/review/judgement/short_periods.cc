#include "advisor/review/judgement/short_periods.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/by_period.h"

namespace sibyl::advisor {
namespace {

// Rows per second of the busiest key; none: unknown.
std::optional<double> busiest_rate(const TableFacts& table) {
  if (!table.growth || !table.keys() || table.hottest_share() <= 0) return std::nullopt;
  return *table.growth * table.hottest_share();
}

// The shortest usual period in which the busiest key gets a good number of rows that are well within the
// target.
std::optional<double> better_period(const ReviewModel& model, const TableFacts& table, double rate,
                                    double width) {
  constexpr double day = 86'400, enough = 100, margin = 4;
  std::optional<double> best;
  for (const double each : {3600.0, day, 7 * day, 30 * day, 365 * day}) {
    if (each <= width || each * rate * table.row_bytes * margin > model.target.partition_bytes) continue;
    best = each;
    if (each * rate >= enough) break;
  }
  return best;
}

}  // namespace

bool review_short_period(const ReviewModel& model, const TableFacts& table, Review& review) {
  if (table.table->is_view() || table.table->clustering_count == 0 || table.origin == Origin::measured)
    return false;
  const std::optional<double> width = table.period_width(), rate = busiest_rate(table);
  constexpr double one_row = 1 + 1e-9, few_rows = 1000;
  if (!width || !rate || *rate * *width > one_row) return false;
  if (*table.growth * model.horizon_of(table) < few_rows) return false;
  const std::optional<double> better = better_period(model, table, *rate, *width);
  if (!better) return false;
  Finding finding = begin_finding(
      table, Verdict::too_unique, Severity::note,
      "Partitions hold about one row: their period ends before the next row of the same key arrives.");
  finding.evidence.push_back(growth_evidence(table));
  finding.evidence.push_back({fmt::format("a period of {}, and one row of the busiest key every {}",
                                          duration_text(*width), duration_text(1 / *rate)),
                              Origin::estimated});
  finding.fix = fmt::format("Use periods of {}: rows that are read together then share a partition.",
                            duration_text(*better));
  finding.cost = "The rows must be copied once.";
  propose_periods(table, *better, finding);
  review.findings.push_back(std::move(finding));
  return true;
}

}  // namespace sibyl::advisor
