// The WHERE clause of a materialized view, bound and evaluated: it holds no markers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/restrictions.h"

namespace sibyl::plan {

// Which rows, by the values of the view's own key.
struct ViewFilter {
  RestrictionsPtr where;
  Scratch scratch;
  std::optional<std::vector<Bytes>> partition_keys;  // sorted; nullopt: those of `tokens`
  TokenRange tokens;
  std::vector<Interval> intervals;
  std::vector<Filter> filters;
};

// nullptr when every row with a key is in the view: nothing but IS NOT NULL was written.
base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::TablePtr& view);

}  // namespace sibyl::plan
