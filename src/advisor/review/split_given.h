// Splits partitions by clustering columns that every statement compares with =. Internal to
// src/advisor/review.
#pragma once

#include <string>
#include <vector>

#include "advisor/review/split.h"

namespace sibyl::advisor {

// Returns the clustering columns that can join the partition key at no cost, because every statement compares
// them with =: each one whose number of values is known, and all of them together.
std::vector<std::vector<std::string>> given_columns(const SplitSituation& situation);
Choice given_choice(const SplitSituation& situation, const std::vector<std::string>& columns);
// The table with these columns in its partition key. Its largest partition is not known.
TableFacts facts_with_given(const TableFacts& table, const std::vector<std::string>& columns);
// Fills in the situation of that table's largest partition.
void divide_by_given(const SplitSituation& whole, const std::vector<std::string>& columns,
                     SplitSituation& part);

}  // namespace sibyl::advisor
