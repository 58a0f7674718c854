// Queries whose results are the keys of another query. Internal to src/advisor/review.
#pragma once

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

// Finds the statements that supply the values of `IN ?`.
void find_supplies(ReviewModel& model);

// If another statement supplies the values of `statement`, sets the number of partitions that the statement
// reads.
void take_supply(const StatementFacts& statement, QueryReview& out);

}  // namespace sibyl::advisor
