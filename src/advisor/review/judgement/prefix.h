// Searches by the first letters of a text. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// For a SELECT that compares a text by a range or by LIKE, and nothing by =: proposes a table that is partitioned by
// the first letters of that text. Returns false for other statements.
bool fix_by_prefix(const ReviewModel& model, const StatementFacts& statement, Finding& finding);

}  // namespace sibyl::advisor
