// Where guardrails meet statements: what can be said when one is prepared, or when the schema is changed.
#pragma once

#include <string>
#include <vector>

#include "plan/definitions.h"
#include "plan/prepared.h"

namespace sibyl::plan {

base::Status check_statement(const cql::Statement& statement, const Prepared& prepared,
                             const Guardrails& guardrails, std::vector<std::string>& warnings);

// `result` is what the statement made of `before`, not yet stored.
base::Status check_definition(const cql::Statement& statement, const schema::Snapshot& before,
                              const DefinitionResult& result, const Guardrails& guardrails,
                              std::vector<std::string>& warnings);

}  // namespace sibyl::plan
