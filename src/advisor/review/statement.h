// The parts of a statement's review. Internal to src/advisor/review.
#pragma once

#include <string>
#include <vector>

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Estimates the rows read and returned. `filters`: columns that are checked row by row. REQUIRES: the
// statement has a plan whose first table is `table`, and `out.partitions` is set.
void estimate_rows(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   const std::vector<std::string>& filters, QueryReview& out);

// Sets the bound of a statement that runs once for each period of an interval, as a formula in the width.
// REQUIRES: the statement has a span, and the table's key contains a period.
void bound_of_span(const StatementFacts& statement, const TableFacts& table, QueryReview& out);
// Reports that there are many periods, and whether wider periods would reduce them. REQUIRES: as above, and
// the width is known.
void describe_periods(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                      const QueryReview& query, Finding& finding);

// Mean number of elements of a row's collection.
double elements_of(const ColumnFacts& column);

// Proposes a table with one row per element, for a SELECT that searches by CONTAINS. Returns false for other
// statements, and for a SELECT that also restricts another non-key column.
bool fix_contains(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                  Finding& finding);

// Compares a measured latency, or a lower bound of the latency, with the file's goal for the statement.
void review_latency(const StatementFacts& statement, const TableFacts* table, const QueryReview& query,
                    Review& review);

}  // namespace sibyl::advisor
