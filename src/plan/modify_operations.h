// Binding of what a statement does to one column. Private to this room.
#pragma once

#include "plan/modify.h"

namespace sibyl::plan {

base::Result<Operation> bind_assignment(const cql::Assignment& assignment, const schema::Table& table,
                                        const schema::Column& column, Binder& binder);
base::Result<Operation> bind_set(const cql::Expression& value, const schema::Table& table,
                                 const schema::Column& column, Binder& binder);
base::Result<Operation> bind_removal(const cql::DeleteTarget& target, const schema::Table& table,
                                     const schema::Column& column, Binder& binder);

// Whether two assignments to one column may stand in one UPDATE.
bool may_stand_together(const cql::Assignment& left, const cql::Assignment& right);

}  // namespace sibyl::plan
