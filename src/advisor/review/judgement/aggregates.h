// Aggregates that read many rows to return one. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// The severity of reading `rows` rows of given partitions for an aggregate; none: these rows are too few to
// matter.
std::optional<Severity> severity_of_aggregate(const StatementFacts& statement, double rows);

// Proposes a table that holds the result: a counter for count(*) of a partition, otherwise a row of totals
// that the application maintains. REQUIRES: the statement is a SELECT with a plan on `table`.
void fix_aggregate(const StatementFacts& statement, const TableFacts& table, Finding& finding);

}  // namespace sibyl::advisor
