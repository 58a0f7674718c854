// Rows of system_views about the activity of the server and its store.
#pragma once

#include <functional>
#include <vector>

#include "engine/statistics/monitor.h"
#include "engine/system_rows.h"
#include "engine/system_tables/system_tables.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// `hits` and `requests` are recent rates per second.
std::vector<SystemRow> cache_rows(const storage::StoreStatistics& store, uint64_t entries, double hits,
                                  double requests);
std::vector<SystemRow> thread_pool_rows(const std::vector<ThreadPool>& pools);
std::vector<SystemRow> query_rows(const std::vector<RunningRequest>& running);
std::vector<SystemRow> batch_metric_rows(const Activity& activity);
std::vector<SystemRow> cql_metric_rows(const Activity& activity, uint64_t prepared, uint64_t evicted);
// Rows of coordinator_read_latency and its siblings, in milliseconds. There is a row for each user's table.
std::vector<SystemRow> latency_rows(const Activity& activity, const schema::Snapshot& schema,
                                    TableMeasure measure);
// Rows of rows_per_read and tombstones_per_read.
std::vector<SystemRow> per_read_rows(const Activity& activity, const schema::Snapshot& schema,
                                     TableMeasure measure);
std::vector<SystemRow> compaction_rows(const storage::Store& store, const schema::Snapshot& schema,
                                       const std::string& directory);
std::vector<SystemRow> max_file_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> max_partition_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> log_rows(const std::vector<LogLine>& lines);
std::vector<SystemRow> gossip_rows(const Node& node, const Bytes& schema_version, uint64_t bytes_on_disk);

// Visits every user's table and view.
void for_each_user_table(const schema::Snapshot& schema,
                         const std::function<void(const schema::Table&)>& visit);

}  // namespace sibyl::engine
