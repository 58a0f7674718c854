// The values that relations compare with, for one request. Errors are Cassandra's (null in a key, unset,
// ...).
#pragma once

#include <vector>

#include "plan/restrictions/bound.h"

namespace sibyl::plan {

// Values, one for each column. They borrow from bindings and scratch.
using Row = std::vector<ValueView>;

base::Result<Row> evaluate(const RowTerm& term, const Bindings& bindings, Scratch& scratch);

// Returns the rows of values that an = or IN allows.
base::Result<std::vector<Row>> allowed_rows(const Restriction& restriction, const Bindings& bindings,
                                            Scratch& scratch);

// True if the restriction is `column = value`, as most restrictions are. only_value() returns that value.
bool has_only_value(const Restriction& restriction);
base::Result<ValueView> only_value(const Restriction& restriction, const Bindings& bindings,
                                   Scratch& scratch);

// Refuses more combinations of `left` and `right` values than a statement may have.
base::Status check_size(size_t left, size_t right, bool is_write);

}  // namespace sibyl::plan
