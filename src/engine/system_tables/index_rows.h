// Rows of system tables about indexes.
#pragma once

#include <vector>

#include "engine/builds/builder.h"
#include "engine/system_rows.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Rows of system_views.sai_column_indexes. While an index is being built, queries that use it scan the table.
// After its build was given up, they fail.
std::vector<SystemRow> attached_index_rows(const schema::Snapshot& schema, const Builder& builder);

}  // namespace sibyl::engine
