// Binds the operations of a statement on one column. Internal to src/plan/statements.
#pragma once

#include "plan/statements/modify.h"

namespace sibyl::plan {

// `is_conditional`: the statement reads before it writes, so numbers and texts can be added to.
base::Result<Operation> bind_assignment(const cql::Assignment& assignment, const schema::Table& table,
                                        const schema::Column& column, Binder& binder, bool is_conditional);
base::Result<Operation> bind_set(const cql::Expression& value, const schema::Table& table,
                                 const schema::Column& column, Binder& binder);
base::Result<Operation> bind_removal(const cql::DeleteTarget& target, const schema::Table& table,
                                     const schema::Column& column, Binder& binder);

// Refuses assignments that conflict in one UPDATE: a whole column together with a part of it, or one field
// twice.
base::Status check_compatible(const std::vector<cql::Assignment>& assignments);

}  // namespace sibyl::plan
