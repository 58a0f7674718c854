// CREATE, ALTER and DROP KEYSPACE. Internal to src/plan/definitions.
#pragma once

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_keyspace(const cql::CreateKeyspace& statement, Draft& draft);
base::Result<DefinitionResult> define_keyspace(const cql::AlterKeyspace& statement, Draft& draft);
base::Result<DefinitionResult> define_keyspace(const cql::DropKeyspace& statement, Draft& draft);

}  // namespace sibyl::plan
