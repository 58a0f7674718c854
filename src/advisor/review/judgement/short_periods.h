// Periods in a partition key that end before a second row arrives. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports a table whose partitions hold about one row each because their period is too short. Returns true if
// it reports the table.
bool review_short_period(const ReviewModel& model, const TableFacts& table, Review& review);

}  // namespace sibyl::advisor
