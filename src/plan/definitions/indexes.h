// CREATE INDEX and DROP INDEX, and the check of other definitions for indexes. Internal to
// src/plan/definitions.
#pragma once

#include <string>

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_index(const cql::CreateIndex& statement, Draft& draft);
base::Result<DefinitionResult> define_index(const cql::DropIndex& statement, Draft& draft);

// Returns the names of the indexes on a column, joined by commas. The column cannot be dropped or renamed
// while it has indexes.
std::string dependent_indexes(const schema::Table& table, const schema::Column& column);

}  // namespace sibyl::plan
