// Checks guardrails for statements: when one is prepared, and when one changes the schema.
#pragma once

#include <string>
#include <vector>

#include "plan/definitions/definitions.h"
#include "plan/prepared.h"

namespace sibyl::plan {

base::Status check_statement(const cql::Statement& statement, const Prepared& prepared,
                             const Guardrails& guardrails, std::vector<std::string>& warnings);

// `result` is the schema that the statement made from `before`, not yet stored.
base::Status check_definition(const cql::Statement& statement, const schema::Snapshot& before,
                              const DefinitionResult& result, const Guardrails& guardrails,
                              std::vector<std::string>& warnings);

}  // namespace sibyl::plan
