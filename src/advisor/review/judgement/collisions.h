// Keys with fewer values than rows. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports keys that cannot hold the declared rows. Returns true if it reports one.
bool review_capacity(const ReviewModel& model, const TableFacts& table, Review& review);

// Part of the cost of a key that keeps every row.
inline constexpr const char* keeps_every_row =
    " The table then keeps every row: give it a time to live, or divide its partitions by time.";

// Makes every row's key unique: `last` is the key's last column.
void fix_collision(const TableFacts& facts, const schema::Column& last, Finding& finding);

// Returns a non-key column with the time of a row, or nullptr. A column whose name means the time of a
// current state does not count: such rows are meant to be replaced.
const schema::Column* time_of_rows(const TableFacts& facts);

}  // namespace sibyl::advisor
