// Keys with fewer values than rows. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Reports keys that cannot hold the declared rows. Returns true if it does.
bool review_capacity(const ReviewModel& model, const TableFacts& table, Review& review);

// Part of the cost of a key that keeps every row.
inline constexpr const char* keeps_every_row =
    " The table then keeps every row: give it a time to live, or divide its partitions by time.";

// Makes every row's key unique: `last` is the key's last column.
void fix_collision(const TableFacts& facts, const schema::Column& last, Finding& finding);

// A non-key column with the time of a row. nullptr if there is none, or if its name shows that it is the time
// of a present state, which is meant to be replaced.
const schema::Column* time_of_rows(const TableFacts& facts);

}  // namespace sibyl::advisor
