// Partitions with too much of the load. Internal to src/advisor/review.
#pragma once

#include <optional>

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports partitions that get too many requests, or too large a share of the rows or requests.
void review_hot(const ReviewModel& model, const TableFacts& table, const std::optional<Spread>& spread,
                Review& review);

}  // namespace sibyl::advisor
