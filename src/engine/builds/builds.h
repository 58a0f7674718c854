// Shows builds in system tables, and rejects queries that need an index whose build was given up.
#pragma once

#include <vector>

#include "engine/builds/builder.h"
#include "engine/system_rows.h"
#include "plan/statements/select.h"

namespace sibyl::engine {

// Rows of system.view_builds_in_progress.
std::vector<SystemRow> view_build_rows(const Builder& builder);
// Rows of system_views.sstable_tasks: the running build, and the abandoned builds, each with the reason.
std::vector<SystemRow> build_task_rows(const Builder& builder);

// Returns an error if the query reads through an index whose build was given up. A query that names its
// partitions or uses another index passes.
base::Status check_indexes(const plan::Select& select, const Builder& builder);

}  // namespace sibyl::engine
