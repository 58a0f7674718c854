// Evaluates the conditions of IF for a row. Internal to src/execute/write.
#pragma once

#include <vector>

#include "plan/statements/conditions.h"
#include "row/fragment.h"

namespace sibyl::execute {

// A condition with the values of one request. Borrows from the plan, the bindings and the scratch.
struct BoundCondition {
  const plan::Condition* condition = nullptr;
  types::ValueView element;              // the list index or map key
  std::vector<types::ValueView> values;  // one value, or the values of IN without those that are unset
};

base::Result<BoundCondition> bind_condition(const plan::Condition& condition, const plan::Bindings& bindings,
                                            plan::Scratch& scratch);

// `row` is the row or static row as a reader sees it, empty if there is none. Undefined comparisons (v <
// null) return an error.
base::Result<bool> holds(const BoundCondition& bound, const row::Fragment& row, plan::Scratch& scratch);

// The column's value in a row as a reader sees it. REQUIRES: the column is neither a key column nor a
// counter.
types::ValueView column_value(const schema::Column& column, const row::Fragment& row, plan::Scratch& scratch);

}  // namespace sibyl::execute
