// CREATE, ALTER and DROP of materialized views, and the effect of other definitions on views. Internal to
// src/plan/definitions.
#pragma once

#include <string>
#include <vector>

#include "plan/definitions/draft.h"

namespace sibyl::plan {

base::Result<DefinitionResult> define_view(const cql::CreateView& statement, Draft& draft);
base::Result<DefinitionResult> define_view(const cql::AlterView& statement, Draft& draft);
base::Result<DefinitionResult> define_view(const cql::DropView& statement, Draft& draft);

// Applies the effects of ALTER TABLE to the views of a table: new columns if a view selects all of them, new
// names of key columns, new masks. `keyspace` already contains the changed table. Returns the names of the
// views that changed.
std::vector<std::string> change_views(const schema::Table& before, const schema::Table& after,
                                      schema::Keyspace& keyspace);

}  // namespace sibyl::plan
