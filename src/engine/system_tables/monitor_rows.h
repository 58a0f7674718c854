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

// A row of system_views.caches.
struct CacheCounts {
  const char* name = "";
  uint64_t capacity_bytes = 0, bytes = 0, entries = 0;
  uint64_t hits = 0, misses = 0;
  double hits_per_second = 0, requests_per_second = 0;  // recent rates
};
SystemRow cache_row(const CacheCounts& cache);
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

// Calls `visit` for every table and view of users.
void for_each_user_table(const schema::Snapshot& schema,
                         const std::function<void(const schema::Table&)>& visit);

}  // namespace sibyl::engine
