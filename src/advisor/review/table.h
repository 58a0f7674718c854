// The review of the size, the load and the spread of a table. Internal to src/advisor/review.
#pragma once

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

// Appends only the findings about size, load and spread.
void review_load_and_size(const ReviewModel& model, const TableFacts& table, Review& review);

// Requests per second to the hottest partition. A statement uses its own skew if it is declared, otherwise
// the table's skew.
double hottest_rate(const ReviewModel& model, const TableFacts& table, bool writes);

// The minimum number of partitions into which each existing one must be split, so that every node gets some;
// 1: there are enough.
double least_spread(const ReviewModel& model, const TableFacts& table);

}  // namespace sibyl::advisor
