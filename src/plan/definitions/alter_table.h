// ALTER TABLE. Internal to src/plan/definitions.
#pragma once

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_table(const cql::AlterTable& statement, Draft& draft);

}  // namespace sibyl::plan
