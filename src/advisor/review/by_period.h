// Proposes tables partitioned by period, for queries that restrict only a time range. Internal to
// src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Proposes a table whose partition key is a period, for a SELECT that restricts only a time column, by a
// range. Returns false if it proposes nothing.
bool fix_by_period(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   Finding& finding);

// Replaces the table by one with periods of `width` seconds, if its key has exactly one period.
void propose_periods(const TableFacts& table, double width, Finding& finding);

}  // namespace sibyl::advisor
