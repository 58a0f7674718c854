// Reads that meet expired rows. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports reads that meet rows which have expired: such a row is a tombstone for gc_grace_seconds.
void review_expiry(const ReviewModel& model, const TableFacts& table, Review& review);

}  // namespace sibyl::advisor
