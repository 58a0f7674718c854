// Indexes and views of a table, made again over the one that takes its place. Internal to reviews.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advisor/review_fix.h"
#include "advisor/review_model.h"

namespace sibyl::advisor {

struct Dependents {
  std::string cql;                          // CREATE INDEX, CREATE MATERIALIZED VIEW; each with a line end
  std::vector<std::string> indexes, views;  // of the old table, which `cql` makes
  std::vector<std::string> left;            // which it does not
};

// `free_name`: of a view instead of the old one, which is there as long as the old table is.
Dependents dependents_of(const ReviewModel& model, const schema::Table& old, const Shape& now,
                         const std::function<std::string(const std::string&)>& free_name);

}  // namespace sibyl::advisor
