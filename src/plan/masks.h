// Dynamic data masking: columns that show a function of what they hold to those who may not see it.
#pragma once

#include "cql/ast.h"
#include "plan/term.h"
#include "schema/schema.h"

namespace sibyl::plan {

// MASKED WITH, bound to the column: the function found and its arguments evaluated; Cassandra's refusals.
// `schema` holds the functions; `table` names the table, which need not be in it yet.
base::Result<schema::ColumnMaskPtr> bind_mask(const cql::ColumnMask& mask, const schema::Snapshot& schema,
                                              const schema::Table& table, const std::string& column,
                                              const types::TypePtr& type);

// What a statement shows of the column whose value `value` is: its mask, unless Bindings::unmasked. The value
// itself for columns without a mask.
base::Result<TermPtr> behind_mask(Binder& binder, const schema::Column& column, TermPtr value);

struct Modification;  // modify.h
// The masked columns of the table whose values the outcome of a write gives away: those that conditions
// compare or that decide whether an operation fails, and with either the key columns that the statement
// names.
std::vector<const schema::Column*> revealed_masks(const Modification& statement);

}  // namespace sibyl::plan
