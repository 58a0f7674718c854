// The review of the size, the load and the spread of a table. Internal to src/advisor/review.
#pragma once

#include "advisor/review/fix.h"

namespace sibyl::advisor {

constexpr double small_table = 1e6;  // bytes; too small to cause problems

// Appends only the findings about size, load and spread.
void review_load_and_size(const ReviewModel& model, const TableFacts& table, Review& review);

// Requests per second to the hottest partition. A statement uses its own skew if it is declared, otherwise
// the table's skew.
double hottest_rate(const ReviewModel& model, const TableFacts& table, bool writes);

// The minimum number of partitions into which each existing one must be split, so that every node gets some;
// 1: there are enough.
double least_spread(const ReviewModel& model, const TableFacts& table);

// Adds the best way to split the table's partitions, each into at least `least`.
void split_finding(const ReviewModel& model, const TableFacts& table, double least, Finding& finding);
// The finding that already splits this table's partitions; nullptr: none.
const Finding* find_split(const TableFacts& table, const Review& review);

}  // namespace sibyl::advisor
