// Checks proposed tables by the rules for existing ones. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Describes the findings that the table `shape`, with the columns that split it, would get for its size and
// load; empty if there are none. The text names the table: "orders_by_day would itself get …".
std::string shortcomings(const ReviewModel& model, const TableFacts& base, Shape shape,
                         const std::vector<Proposal::Added>& added);

}  // namespace sibyl::advisor
