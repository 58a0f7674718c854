// Tables by periods of time, for queries that ask for a range of time and give no key. Internal to
// src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Proposes a table with a period as partition key, for a SELECT that restricts only a time, by a range.
// Returns false if it proposes nothing.
bool fix_by_period(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   Finding& finding);

// Replaces the table by one with periods of `width` seconds, if its key has exactly one period.
void propose_periods(const TableFacts& table, double width, Finding& finding);

}  // namespace sibyl::advisor
