// CREATE and DROP of functions and aggregates. Internal to src/plan/definitions.
#pragma once

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_function(const cql::CreateFunction& statement, Draft& draft);
base::Result<DefinitionResult> define_function(const cql::DropFunction& statement, Draft& draft);
base::Result<DefinitionResult> define_function(const cql::CreateAggregate& statement, Draft& draft);
base::Result<DefinitionResult> define_function(const cql::DropAggregate& statement, Draft& draft);

// Returns the change event of one function or aggregate, with the CQL names of its argument types.
schema::Change function_change(schema::Change::Kind kind, const schema::UserFunction& function);
schema::Change function_change(schema::Change::Kind kind, const schema::UserAggregate& aggregate);

}  // namespace sibyl::plan
