// What others see of builds: rows of system tables, and queries that go through what was given up.
#pragma once

#include <vector>

#include "engine/builder.h"
#include "engine/system_rows.h"
#include "plan/select.h"

namespace sibyl::engine {

// system.view_builds_in_progress.
std::vector<SystemRow> view_build_rows(const Builder& builder);
// Of system_views.sstable_tasks: what is being built, and what was given up with the reason.
std::vector<SystemRow> build_task_rows(const Builder& builder);

// Refuses a query whose way to the rows is an index that was given up. One that names its partitions, or has
// another index, needs it not.
base::Status check_indexes(const plan::Select& select, const Builder& builder);

}  // namespace sibyl::engine
