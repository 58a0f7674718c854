// What the system tables say of indexes.
#pragma once

#include <vector>

#include "engine/system_rows.h"
#include "schema/schema.h"

namespace sibyl::engine {

// system_views.sai_column_indexes. An index answers while it is being built, by scanning.
std::vector<SystemRow> attached_index_rows(const schema::Snapshot& schema);

}  // namespace sibyl::engine
