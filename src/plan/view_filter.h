// The WHERE clause of a materialized view, bound and evaluated: it holds no markers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/restrictions.h"

namespace sibyl::plan {

// Which rows of the base table, by their key: nothing else may be restricted.
struct ViewFilter {
  RestrictionsPtr where;
  bool excludes_all = false;  // a comparison with null
  Scratch scratch;
  std::optional<std::vector<Bytes>> partition_keys;  // sorted; nullopt: those of `tokens`
  TokenRange tokens;
  std::vector<Interval> intervals;
  std::vector<Filter> filters;
};

// The relations as a view keeps them. Calls of functions that users made, or that give another value each
// time (now()), are made here and replaced by their values: what is in a view never depends on anything but
// its base. REQUIRES: a SELECT could have these relations.
base::Result<std::string> view_clause(const std::vector<cql::Relation>& where, const schema::Snapshot& schema,
                                      const schema::Table& base, int64_t now_micros);

// nullptr when every row with a key is in the view: nothing but IS NOT NULL was written.
base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::ViewDefinition& view,
                                                                 const schema::Table& base);

}  // namespace sibyl::plan
