// Dynamic data masking: columns that show roles without permission a function of their value.
#pragma once

#include "cql/ast.h"
#include "plan/terms/term.h"
#include "schema/schema.h"

namespace sibyl::plan {

// Binds MASKED WITH to the column: finds the function and evaluates its arguments. Errors are Cassandra's.
// `schema` has the functions. `table` names the table, which need not be in the schema yet.
base::Result<schema::ColumnMaskPtr> bind_mask(const cql::ColumnMask& mask, const schema::Snapshot& schema,
                                              const schema::Table& table, const std::string& column,
                                              const types::TypePtr& type);

// The term that a statement shows for a column with the value `value`: its mask, unless Bindings::unmasked.
// `value` itself if the column has no mask.
base::Result<TermPtr> apply_mask(Binder& binder, const schema::Column& column, TermPtr value);

struct Modification;  // modify.h
// The masked columns whose values the outcome of a write reveals: columns that conditions compare, and
// columns that decide whether an operation fails. If there are any, also the masked key columns that the
// statement names.
std::vector<const schema::Column*> revealed_masks(const Modification& statement);

}  // namespace sibyl::plan
