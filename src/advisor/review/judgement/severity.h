// How severe it is to read rows that are not returned. Internal to src/advisor/review.
#pragma once

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

// Rows or partitions visited for each row returned; none: unknown.
std::optional<double> waste_of(const QueryReview& query);
// Severities by the rows visited for each row returned. `rows` is the number of rows in the table, now or at
// the horizon.
Severity severity_of_filter(double waste);
Severity severity_of_scan(const StatementFacts& statement, const std::optional<double>& rows,
                          const QueryReview& query);

}  // namespace sibyl::advisor
