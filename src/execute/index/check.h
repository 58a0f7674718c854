// Verifies indexes and views: recomputes everything from the base tables and compares record by record.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// Returns one line for each record that is missing, surplus or different, at most `max_faults`. Indexes and
// views that are not built yet are skipped. Data that has expired by `now_seconds` is not compared, because
// compaction may have purged only one of the copies. REQUIRES: no concurrent writes.
base::Result<std::vector<std::string>> check_index_maintenance(const schema::Snapshot& schema,
                                                               const storage::Store& store,
                                                               int64_t now_seconds, size_t max_faults = 20);

}  // namespace sibyl::execute
