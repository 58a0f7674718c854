// CREATE, ALTER and DROP TYPE. Internal to src/plan/definitions.
#pragma once

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_type(const cql::CreateType& statement, Draft& draft);
base::Result<DefinitionResult> define_type(const cql::AlterType& statement, Draft& draft);
base::Result<DefinitionResult> define_type(const cql::DropType& statement, Draft& draft);

}  // namespace sibyl::plan
