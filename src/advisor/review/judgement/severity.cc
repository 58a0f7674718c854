// How severe it is to read rows that are not returned.
#include "advisor/review/judgement/severity.h"

#include <algorithm>

namespace sibyl::advisor {
namespace {

constexpr double many_rows = 100'000;
// Rows visited for each row returned.
constexpr double little_waste = 4, much_waste = 1000;
constexpr double hourly = 1 / 3600.0;

}  // namespace

std::optional<double> waste_of(const QueryReview& query) {
  if (!query.rows_read || !query.rows_returned) return std::nullopt;
  const double visited = std::max(*query.rows_read, query.partitions.value_or(0));
  return visited / std::max(1.0, *query.rows_returned);
}

Severity severity_of_filter(double waste) {
  return waste < little_waste ? Severity::note : waste >= much_waste ? Severity::error : Severity::warning;
}

Severity severity_of_scan(const StatementFacts& statement, const std::optional<double>& rows,
                          const QueryReview& query) {
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const std::optional<double> waste = waste_of(query);
  const bool returns_all = use.filters.empty() && !use.aggregates && !use.groups;
  if (returns_all || (waste && *waste < little_waste)) {
    // A read of everything is harmless if it runs rarely, as a batch job.
    const bool rare = statement.rate > 0 && statement.rate <= hourly;
    return rare || (rows && *rows < many_rows) ? Severity::note : Severity::warning;
  }
  if (waste && *waste >= much_waste) return Severity::error;
  return rows && *rows < many_rows ? Severity::warning : Severity::error;
}

}  // namespace sibyl::advisor
