// Finds where reads start in a partition, and the tombstones that they scan. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

// Tombstones per read.
inline constexpr double many_tombstones = 1000, very_many_tombstones = 100'000;

// The place where a read starts: the smallest or largest value of the first clustering column that the read
// does not compare by =.
struct Front {
  const schema::Column* column = nullptr;  // nullptr: the read gives whole keys
  bool from_least = true;
  bool is_bounded = false;  // the statement gives a bound, and skips everything before it
};

Front front_of(const plan::Explanation::TableUse& use, const cql::Select& select);

// The number of rows that the statement wants.
double limit_of_read(const StatementFacts& read);

}  // namespace sibyl::advisor
