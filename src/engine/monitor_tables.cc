#include "engine/monitor_tables.h"

#include "engine/monitor_rows.h"

namespace sibyl::engine {

void MonitorTables::install_monitored(SystemTables& tables, const char* table, Rows rows) {
  tables.set_source("system_views", table, [this, rows = std::move(rows)] {
    std::lock_guard lock(mutex_);
    return monitor_ != nullptr ? rows(*monitor_) : std::vector<SystemRow>();
  });
}

void MonitorTables::install(SystemTables& tables, Engine& engine, const Options& options) {
  tables.set_source("system_views", "caches", [&engine] { return cache_rows(engine.store().statistics()); });
  tables.set_source("system_views", "max_sstable_size",
                    [&engine] { return max_file_rows(engine.store(), *engine.schema()); });
  tables.set_source("system_views", "max_partition_size",
                    [&engine] { return max_partition_rows(engine.store(), *engine.schema()); });
  tables.set_source("system_views", "system_logs", [logs = options.recent_logs] {
    return logs ? log_rows(logs()) : std::vector<SystemRow>();
  });
  tables.set_source("system_views", "gossip_info", [&engine, &tables] {
    return gossip_rows(tables.node(), engine.schema()->version, engine.store().statistics().bytes_on_disk);
  });
  install_monitored(tables, "thread_pools",
                    [](const Monitor& monitor) { return thread_pool_rows(monitor.thread_pools()); });
  install_monitored(tables, "queries", [](const Monitor& monitor) { return query_rows(monitor.running()); });
  install_monitored(tables, "batch_metrics",
                    [](const Monitor& monitor) { return batch_metric_rows(monitor.activity()); });
  install_monitored(tables, "cql_metrics", [&engine](const Monitor& monitor) {
    const Engine::Statistics known = engine.statistics();
    return cql_metric_rows(monitor.activity(), known.prepared, known.prepared_evicted);
  });
  install_measures(tables, engine);
}

void MonitorTables::install_measures(SystemTables& tables, Engine& engine) {
  static constexpr std::pair<const char*, TableMeasure> latencies[] = {
      {"coordinator_read_latency", TableMeasure::coordinator_read},
      {"coordinator_scan_latency", TableMeasure::coordinator_scan},
      {"coordinator_write_latency", TableMeasure::coordinator_write},
      {"local_read_latency", TableMeasure::local_read},
      {"local_scan_latency", TableMeasure::local_scan},
      {"local_write_latency", TableMeasure::local_write}};
  for (const auto& [table, measure] : latencies)
    install_monitored(tables, table, [&engine, measure = measure](const Monitor& monitor) {
      return latency_rows(monitor.activity(), *engine.schema(), measure);
    });
  static constexpr std::pair<const char*, TableMeasure> counts[] = {
      {"rows_per_read", TableMeasure::rows_per_read},
      {"tombstones_per_read", TableMeasure::tombstones_per_read}};
  for (const auto& [table, measure] : counts)
    install_monitored(tables, table, [&engine, measure = measure](const Monitor& monitor) {
      return per_read_rows(monitor.activity(), *engine.schema(), measure);
    });
}

}  // namespace sibyl::engine
