// What the system tables say of indexes.
#pragma once

#include <vector>

#include "engine/builder.h"
#include "engine/system_rows.h"
#include "schema/schema.h"

namespace sibyl::engine {

// system_views.sai_column_indexes. An index answers while it is being built, by scanning, but not when that
// was given up.
std::vector<SystemRow> attached_index_rows(const schema::Snapshot& schema, const Builder& builder);

}  // namespace sibyl::engine
