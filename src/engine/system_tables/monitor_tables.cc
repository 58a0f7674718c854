#include "engine/system_tables/monitor_tables.h"

#include "base/check.h"
#include "base/mutex.h"
#include "engine/inet.h"
#include "engine/system_sources.h"
#include "engine/system_tables/monitor_rows.h"
#include "storage/internals.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

SystemRow client_row(const Client& client) {
  SystemRow row = {{"address", inet(client.address, "0.0.0.0")},
                   {"port", types::encode_int32(client.port)},
                   {"client_options", text_map(client.options)},
                   {"connection_stage", client.stage},
                   {"hostname", client.address},
                   {"protocol_version", types::encode_int32(client.protocol_version)},
                   {"request_count", types::encode_int64(static_cast<int64_t>(client.request_count))},
                   {"ssl_enabled", types::encode_boolean(!client.tls_protocol.empty())},
                   {"username", client.role}};
  if (!client.driver_name.empty()) row.emplace_back("driver_name", client.driver_name);
  if (!client.driver_version.empty()) row.emplace_back("driver_version", client.driver_version);
  if (!client.tls_protocol.empty()) {
    row.emplace_back("ssl_cipher_suite", client.tls_cipher_suite);
    row.emplace_back("ssl_protocol", client.tls_protocol);
  }
  if (!client.keyspace.empty()) row.emplace_back("keyspace_name", client.keyspace);
  return row;
}

}  // namespace

void MonitorTables::set_endpoint(const std::string& address, uint16_t port) {
  Node node = tables_.node();
  // A server that listens on all interfaces has no single address to show.
  const bool everywhere = address == "0.0.0.0" || address == "::";
  node.address = everywhere ? "127.0.0.1" : address;
  node.port = port;
  SIBYL_CHECK(tables_.show_node(std::move(node)).has_value());
  SIBYL_CHECK(tables_.show_settings(shown_settings(options_, tables_.node())).has_value());
}

void MonitorTables::set_monitor(const Monitor* monitor) {
  const base::MutexLock lock(mutex_);
  monitor_ = monitor;
}

void MonitorTables::set_clients(Clients clients) {
  const base::MutexLock lock(clients_mutex_);
  clients_ = std::move(clients);
}

void MonitorTables::install_monitored(const char* table, Rows rows) {
  tables_.set_source("system_views", table, [this, rows = std::move(rows)] {
    const base::MutexLock lock(mutex_);
    return monitor_ != nullptr ? rows(*monitor_) : std::vector<SystemRow>();
  });
}

void MonitorTables::install(const SchemaSource& schema_source, const Measurements& measurements) {
  install_store(schema_source, measurements.store());
  tables_.set_source("system_views", "system_logs", [logs = options_.recent_logs] {
    return logs ? log_rows(logs()) : std::vector<SystemRow>();
  });
  tables_.set_source("system_views", "clients", [this] {
    std::vector<SystemRow> rows;
    const base::MutexLock lock(clients_mutex_);
    if (clients_)
      for (const Client& client : clients_()) rows.push_back(client_row(client));
    return rows;
  });
  install_monitored("thread_pools",
                    [](const Monitor& monitor) { return thread_pool_rows(monitor.thread_pools()); });
  install_monitored("queries", [](const Monitor& monitor) { return query_rows(monitor.running()); });
  install_monitored("batch_metrics",
                    [](const Monitor& monitor) { return batch_metric_rows(monitor.activity()); });
  install_monitored("cql_metrics", [&measurements](const Monitor& monitor) {
    const PreparedStatistics prepared = measurements.prepared();
    return cql_metric_rows(monitor.activity(), prepared.count, prepared.evicted);
  });
  install_latencies(schema_source);
}

void MonitorTables::install_store(const SchemaSource& schema_source, const storage::Store& store) {
  tables_.set_source("system_views", "caches", [this, &store] {
    const storage::StoreStatistics statistics = store.statistics();
    update_rates(statistics);
    const auto* internals = dynamic_cast<const storage::Internals*>(&store);
    const uint64_t blocks = internals != nullptr ? internals->cache_entries() : 0;
    return cache_rows(statistics, blocks);
  });
  tables_.set_source("system_views", "max_sstable_size",
                     [&schema_source, &store] { return max_file_rows(store, *schema_source.schema()); });
  tables_.set_source("system_views", "max_partition_size",
                     [&schema_source, &store] { return max_partition_rows(store, *schema_source.schema()); });
  tables_.set_source("system_views", "gossip_info", [this, &schema_source, &store] {
    return gossip_rows(tables_.node(), schema_source.schema()->version, store.statistics().bytes_on_disk);
  });
}

// The cache of blocks of data files corresponds to Cassandra's chunk cache.
std::vector<SystemRow> MonitorTables::cache_rows(const storage::StoreStatistics& store, uint64_t blocks) {
  CacheCounts chunks{.name = "chunks",
                     .capacity_bytes = store.cache_capacity_bytes,
                     .bytes = store.cache_bytes,
                     .entries = blocks,
                     .hits = store.cache_hits,
                     .misses = store.cache_misses};
  CacheCounts rows{.name = "rows",
                   .capacity_bytes = store.row_cache_capacity_bytes,
                   .bytes = store.row_cache_bytes,
                   .entries = store.row_cache_entries,
                   .hits = store.row_cache_hits,
                   .misses = store.row_cache_misses};
  const base::MutexLock lock(rates_mutex_);
  chunks.hits_per_second = chunk_rates_.hits.per_second();
  chunks.requests_per_second = chunk_rates_.requests.per_second();
  rows.hits_per_second = row_rates_.hits.per_second();
  rows.requests_per_second = row_rates_.requests.per_second();
  return {cache_row(chunks), cache_row(rows)};
}

void MonitorTables::update_rates(const storage::StoreStatistics& store) {
  const base::MutexLock lock(rates_mutex_);
  const auto now = std::chrono::steady_clock::now();
  chunk_rates_.hits.update(store.cache_hits, now);
  chunk_rates_.requests.update(store.cache_hits + store.cache_misses, now);
  row_rates_.hits.update(store.row_cache_hits, now);
  row_rates_.requests.update(store.row_cache_hits + store.row_cache_misses, now);
}

void MonitorTables::install_latencies(const SchemaSource& schema_source) {
  static constexpr std::pair<const char*, TableMeasure> latencies[] = {
      {"coordinator_read_latency", TableMeasure::coordinator_read},
      {"coordinator_scan_latency", TableMeasure::coordinator_scan},
      {"coordinator_write_latency", TableMeasure::coordinator_write},
      {"local_read_latency", TableMeasure::local_read},
      {"local_scan_latency", TableMeasure::local_scan},
      {"local_write_latency", TableMeasure::local_write}};
  for (const auto& [table, measure] : latencies)
    install_monitored(table, [&schema_source, measure = measure](const Monitor& monitor) {
      return latency_rows(monitor.activity(), *schema_source.schema(), measure);
    });
  static constexpr std::pair<const char*, TableMeasure> counts[] = {
      {"rows_per_read", TableMeasure::rows_per_read},
      {"tombstones_per_read", TableMeasure::tombstones_per_read}};
  for (const auto& [table, measure] : counts)
    install_monitored(table, [&schema_source, measure = measure](const Monitor& monitor) {
      return per_read_rows(monitor.activity(), *schema_source.schema(), measure);
    });
}

}  // namespace sibyl::engine
