// CREATE and DROP TRIGGER. Internal to src/plan/definitions.
#pragma once

#include "plan/definitions/draft.h"

namespace sibyl::plan {

// Triggers are Java classes, so none can be loaded.
base::Result<DefinitionResult> define_trigger(const cql::CreateTrigger& statement, Draft& draft);
base::Result<DefinitionResult> define_trigger(const cql::DropTrigger& statement, Draft& draft);

}  // namespace sibyl::plan
