// Whether IF's conditions hold for a row. Private to this room.
#pragma once

#include <vector>

#include "plan/conditions.h"
#include "row/fragment.h"

namespace sibyl::execute {

// A condition with its values, for one request. Borrows from the plan, the bindings and the scratch.
struct BoundCondition {
  const plan::Condition* condition = nullptr;
  types::ValueView element;              // the list index or map key
  std::vector<types::ValueView> values;  // one, or those of IN that are not unset
};

base::Result<BoundCondition> bind_condition(const plan::Condition& condition, const plan::Bindings& bindings,
                                            plan::Scratch& scratch);

// `row` is the (static) row as a reader sees it; an empty one when there is none. Comparisons that have no
// answer (v < null) are refused.
base::Result<bool> holds(const BoundCondition& bound, const row::Fragment& row, plan::Scratch& scratch);

// The column's value in a row as a reader sees it. REQUIRES: no key column and no counter.
types::ValueView column_value(const schema::Column& column, const row::Fragment& row, plan::Scratch& scratch);

}  // namespace sibyl::execute
