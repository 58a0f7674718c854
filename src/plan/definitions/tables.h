// CREATE and DROP TABLE, and rules that other definitions of tables and views use. Internal to
// src/plan/definitions.
#pragma once

#include <string>

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_table(const cql::CreateTable& statement, Draft& draft);
base::Result<DefinitionResult> define_table(const cql::DropTable& statement, Draft& draft);

// For names of tables and views.
base::Status check_table_name(const std::string& keyspace, const std::string& name);
base::Error table_already_exists(const std::string& keyspace, const std::string& table);

// Refuses MASKED WITH unless dynamic data masking is enabled.
base::Status check_masking(const DefinitionContext& context);

}  // namespace sibyl::plan
