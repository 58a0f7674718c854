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

// nullptr when every row with a key is in the view: nothing but IS NOT NULL was written.
base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::ViewDefinition& view,
                                                                 const schema::Table& base);

}  // namespace sibyl::plan
