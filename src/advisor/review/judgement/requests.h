// Ranges over a period of time in the partition key. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// For a SELECT that the database rejects or answers by a scan because it compares the period in the partition key
// by a range and all other columns of that key by =: proposes to run it once for each period. Returns false for
// other statements.
bool fix_by_requests(const StatementFacts& statement, const TableFacts& table, Finding& finding);

}  // namespace sibyl::advisor
