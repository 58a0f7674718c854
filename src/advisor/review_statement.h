// The parts of a statement's review. Internal to the review.
#pragma once

#include <string>
#include <vector>

#include "advisor/review_fix.h"

namespace sibyl::advisor {

// Rows read and returned, into `out`, whose partitions are known by now. `filters`: columns that are checked
// row by row. REQUIRES: the statement has a plan, whose first table is `table`.
void estimate_rows(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   const std::vector<std::string>& filters, QueryReview& out);

// The bound of a statement that runs once for each period that a stretch of time touches: a formula in the
// width. REQUIRES: it has a span, and the table's key a period.
void bound_of_span(const StatementFacts& statement, const TableFacts& table, QueryReview& out);
// That these are many, and whether wider periods would be fewer. REQUIRES: the same, and the width is known.
void describe_periods(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                      const QueryReview& query, Finding& finding);

// Of a row's collection, on average.
double elements_of(const ColumnFacts& column);

// A table with a row for each element, for a SELECT that looks for one by CONTAINS. False: it does not, or
// compares something else that is no key.
bool fix_contains(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                  Finding& finding);

// A latency that was measured, or that cannot be less, against what the file wants of the statement.
void review_latency(const StatementFacts& statement, const TableFacts* table, const QueryReview& query,
                    Review& review);

}  // namespace sibyl::advisor
