// Numbers that are missing. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports sizes that cannot be estimated although the table grows.
void review_unknown(const ReviewModel& model, const TableFacts& table, Review& review);

// The numbers that must be known before the additional table is created; empty if none is missing.
std::string missing_values(const ReviewModel& model, const TableFacts& base, const Shape& shape);

}  // namespace sibyl::advisor
