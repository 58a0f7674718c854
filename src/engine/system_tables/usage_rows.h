// The rows of system_views.table_statistics, hot_partitions and query_shapes.
#pragma once

#include <vector>

#include "engine/statistics/usage_totals.h"
#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

std::vector<SystemRow> table_statistic_rows(const storage::Store& store, const UsageTotals& usage,
                                            const schema::Snapshot& schema);
std::vector<SystemRow> hot_partition_rows(const UsageTotals& usage, const schema::Snapshot& schema);
std::vector<SystemRow> query_shape_rows(const UsageTotals& usage, const schema::Snapshot& schema);

}  // namespace sibyl::engine
