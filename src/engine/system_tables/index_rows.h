// Rows of system tables about indexes.
#pragma once

#include <vector>

#include "engine/builds/builder.h"
#include "engine/system_rows.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Rows of system_views.sai_column_indexes. An index can be queried while it is being built (by scanning), but
// not after its build was given up.
std::vector<SystemRow> attached_index_rows(const schema::Snapshot& schema, const Builder& builder);

}  // namespace sibyl::engine
