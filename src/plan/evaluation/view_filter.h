// The WHERE clause of a materialized view, bound and evaluated. It has no markers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/evaluation/filters.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/partitions.h"
#include "plan/restrictions/restrictions.h"

namespace sibyl::plan {

// Selects rows of the base table by key. Only key columns may be restricted.
struct ViewFilter {
  RestrictionsPtr where;
  bool excludes_all = false;  // true: a comparison with null excludes all rows
  Scratch scratch;
  std::optional<std::vector<Bytes>> partition_keys;  // sorted; nullopt: all partitions in `tokens`
  TokenRange tokens;
  std::vector<Interval> intervals;
  std::vector<Filter> filters;
};

// The relations in the form that a view stores. Calls of user-defined functions, and of functions such as
// now(), are evaluated here and replaced by their values, because the content of a view may depend only on
// its base table. REQUIRES: the relations are valid in a SELECT.
base::Result<std::string> view_clause(const std::vector<cql::Relation>& where, const schema::Snapshot& schema,
                                      const schema::Table& base, int64_t now_micros);

// Returns nullptr if the view has every row with a complete key, because only IS NOT NULL was written.
base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::ViewDefinition& view,
                                                                 const schema::Table& base);

}  // namespace sibyl::plan
