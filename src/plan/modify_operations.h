// Binding of what a statement does to one column. Private to this room.
#pragma once

#include "plan/modify.h"

namespace sibyl::plan {

// `is_conditional`: the statement reads first anyway, so that numbers and texts can be added to.
base::Result<Operation> bind_assignment(const cql::Assignment& assignment, const schema::Table& table,
                                        const schema::Column& column, Binder& binder, bool is_conditional);
base::Result<Operation> bind_set(const cql::Expression& value, const schema::Table& table,
                                 const schema::Column& column, Binder& binder);
base::Result<Operation> bind_removal(const cql::DeleteTarget& target, const schema::Table& table,
                                     const schema::Column& column, Binder& binder);

// Refuses assignments that cannot stand in one UPDATE: a whole column beside anything else of it, one field
// twice.
base::Status check_compatible(const std::vector<cql::Assignment>& assignments);

}  // namespace sibyl::plan
