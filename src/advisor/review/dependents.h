// Recreates the indexes and views of a table on its replacement table. Internal to src/advisor/review.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advisor/review/fix.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {

struct Dependents {
  // CREATE INDEX and CREATE MATERIALIZED VIEW statements, one per line.
  std::string cql;
  std::vector<std::string> indexes, views;  // indexes and views of the old table that `cql` recreates
  std::vector<std::string> left;            // indexes and views that `cql` does not recreate
};

// `free_name` returns an unused name for a view. The old view keeps its name as long as the old table exists.
Dependents dependents_of(const ReviewModel& model, const schema::Table& old, const Shape& now,
                         const std::function<std::string(const std::string&)>& free_name);

}  // namespace sibyl::advisor
