// Ranges over a period of time in the partition key. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Proposes to run a SELECT once for each period, if it compares the period in the partition key by a range
// and all other columns of that key by =. The database rejects such a SELECT or answers it by a scan. Returns
// false for other statements.
bool fix_by_requests(const StatementFacts& statement, const TableFacts& table, Finding& finding);

}  // namespace sibyl::advisor
