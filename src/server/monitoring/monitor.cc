#include "server/monitoring/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <sstream>

#include "base/process.h"
#include "engine/options.h"
#include "engine/system_tables/estimates.h"
#include "engine/system_tables/monitor_rows.h"
#include "server/http/prometheus.h"
#include "server/reactor.h"

namespace sibyl::server {
namespace json = boost::json;

namespace {

using engine::Activity;
using engine::StatementKind;

const char* name_of(int32_t code) {
  switch (static_cast<base::ErrorCode>(code)) {
    case base::ErrorCode::server:
      return "server_error";
    case base::ErrorCode::protocol:
      return "protocol_error";
    case base::ErrorCode::bad_credentials:
      return "bad_credentials";
    case base::ErrorCode::unavailable:
      return "unavailable";
    case base::ErrorCode::overloaded:
      return "overloaded";
    case base::ErrorCode::bootstrapping:
      return "bootstrapping";
    case base::ErrorCode::truncate:
      return "truncate_error";
    case base::ErrorCode::write_timeout:
      return "write_timeout";
    case base::ErrorCode::read_timeout:
      return "read_timeout";
    case base::ErrorCode::read_failure:
      return "read_failure";
    case base::ErrorCode::function_failure:
      return "function_failure";
    case base::ErrorCode::write_failure:
      return "write_failure";
    case base::ErrorCode::cdc_write_failure:
      return "cdc_write_failure";
    case base::ErrorCode::cas_write_unknown:
      return "cas_write_unknown";
    case base::ErrorCode::syntax:
      return "syntax_error";
    case base::ErrorCode::unauthorized:
      return "unauthorized";
    case base::ErrorCode::invalid:
      return "invalid";
    case base::ErrorCode::config:
      return "config_error";
    case base::ErrorCode::already_exists:
      return "already_exists";
    case base::ErrorCode::unprepared:
      return "unprepared";
  }
  return "server_error";
}

void add_requests(const Activity& activity, PrometheusPage& page) {
  page.family("sibyl_request_duration_seconds", "histogram",
              "Time from the arrival of a request to its response, by kind of statement");
  for (size_t i = 0; i < engine::statement_kinds; ++i)
    page.latencies(activity.latencies[i], {{"kind", plan::to_string(static_cast<StatementKind>(i))}});
  page.family("sibyl_errors_total", "counter", "Requests answered with an error, by error code");
  for (const auto& [code, count] : activity.errors)
    page.sample(static_cast<double>(count),
                {{"code", fmt::format("0x{:04x}", code)}, {"name", name_of(code)}});
  page.family("sibyl_statements_total", "counter", "Statements executed, prepared or not");
  page.sample(static_cast<double>(activity.prepared_executions), {{"prepared", "true"}});
  page.sample(static_cast<double>(activity.regular_executions), {{"prepared", "false"}});
  page.counter("sibyl_slow_requests_total", "Requests that took longer than slow_query_log_timeout",
               activity.slow_requests);
  page.gauge("sibyl_requests_in_flight", "Requests in flight",
             static_cast<double>(activity.requests_in_flight));
  page.gauge("sibyl_request_bytes_in_flight", "Bytes of requests in flight",
             static_cast<double>(activity.request_bytes_in_flight));
  page.family("sibyl_batch_partitions", "histogram", "Partitions per batch");
  static constexpr const char* kinds[] = {"logged", "unlogged", "counter"};
  for (size_t i = 0; i < activity.batch_partitions.size(); ++i)
    page.numbers(activity.batch_partitions[i], {{"kind", kinds[i]}});
}

void add_routed(const engine::Executor::Routed& routed, PrometheusPage& page) {
  page.family("sibyl_statements_elsewhere_total", "counter",
              "Statements whose partitions other servers of the cluster own: sent to their owner, or spread "
              "over several");
  page.sample(static_cast<double>(routed.forwarded), {{"how", "forwarded"}});
  page.sample(static_cast<double>(routed.spread), {{"how", "spread"}});
}

void add_connections(const Activity& activity, PrometheusPage& page) {
  page.gauge("sibyl_connections", "Open connections", static_cast<double>(activity.connections));
  page.counter("sibyl_connections_accepted_total", "Connections accepted", activity.connections_accepted);
  page.counter("sibyl_connections_refused_total", "Connections closed because too many were open",
               activity.connections_refused);
  page.counter("sibyl_received_bytes_total", "Bytes received from clients", activity.bytes_received);
  page.counter("sibyl_sent_bytes_total", "Bytes sent to clients", activity.bytes_sent);
}

void add_pools(const std::vector<engine::ThreadPool>& pools, PrometheusPage& page) {
  const auto each = [&](const char* name, const char* type, const char* help,
                        uint64_t engine::ThreadPool::* member) {
    page.family(name, type, help);
    for (const engine::ThreadPool& pool : pools)
      page.sample(static_cast<double>(pool.*member), {{"pool", pool.name}});
  };
  each("sibyl_threads_active", "gauge", "Requests that are running", &engine::ThreadPool::active);
  each("sibyl_threads_limit", "gauge", "Threads", &engine::ThreadPool::limit);
  each("sibyl_threads_pending", "gauge", "Requests that wait for a thread", &engine::ThreadPool::pending);
  each("sibyl_threads_completed_total", "counter", "Requests that have run", &engine::ThreadPool::completed);
  each("sibyl_threads_refused_total", "counter", "Requests refused because the queue was full",
       &engine::ThreadPool::refused);
}

void add_store(const storage::StoreStatistics& store, PrometheusPage& page) {
  page.gauge("sibyl_store_disk_bytes", "Bytes of data files and commit log",
             static_cast<double>(store.bytes_on_disk));
  page.gauge("sibyl_store_files", "Data files", static_cast<double>(store.files));
  page.gauge("sibyl_commit_log_bytes", "Bytes of the commit log", static_cast<double>(store.log_bytes));
  page.gauge("sibyl_memtable_bytes", "Memory of data that is not yet in data files",
             static_cast<double>(store.memtable_bytes));
  page.counter("sibyl_commits_total", "Write sets made durable", store.commits);
  page.counter("sibyl_commits_refused_total", "Write sets refused because the queue was full",
               store.commits_refused);
  page.family("sibyl_commit_group_size", "histogram", "Write sets that shared one sync");
  page.numbers(store.group_commits);
  page.family("sibyl_commit_sync_duration_seconds", "histogram",
              "Time to write a group to the commit log and sync it");
  page.latencies(store.sync_micros);
  page.gauge("sibyl_block_cache_capacity_bytes", "Capacity of the block cache",
             static_cast<double>(store.cache_capacity_bytes));
  page.gauge("sibyl_block_cache_bytes", "Bytes in the block cache", static_cast<double>(store.cache_bytes));
  page.counter("sibyl_block_cache_hits_total", "Blocks found in the block cache", store.cache_hits);
  page.counter("sibyl_block_cache_misses_total", "Blocks read from files", store.cache_misses);
  page.gauge("sibyl_row_cache_capacity_bytes", "Capacity of the row cache",
             static_cast<double>(store.row_cache_capacity_bytes));
  page.gauge("sibyl_row_cache_bytes", "Bytes in the row cache", static_cast<double>(store.row_cache_bytes));
  page.gauge("sibyl_row_cache_records", "Records in the row cache",
             static_cast<double>(store.row_cache_entries));
  page.counter("sibyl_row_cache_hits_total", "Records found in the row cache", store.row_cache_hits);
  page.counter("sibyl_row_cache_misses_total", "Records not found in the row cache", store.row_cache_misses);
  page.counter("sibyl_row_cache_evictions_total", "Records evicted from the row cache",
               store.row_cache_evictions);
  page.counter("sibyl_flushes_total", "Data files written from memory", store.flushes);
  page.counter("sibyl_flush_bytes_total", "Bytes of data files written from memory", store.flush_bytes);
  page.counter("sibyl_compactions_total", "Compactions finished", store.compactions);
  page.counter("sibyl_compaction_read_bytes_total", "Bytes that compactions read",
               store.compaction_bytes_read);
  page.counter("sibyl_compaction_written_bytes_total", "Bytes that compactions wrote",
               store.compaction_bytes_written);
  page.gauge("sibyl_compactions_running", "Compactions in progress",
             static_cast<double>(store.running_compactions));
  page.gauge("sibyl_flushes_running", "Flushes in progress", static_cast<double>(store.running_flushes));
  page.gauge("sibyl_compaction_pending_bytes", "Bytes that wait for compaction",
             static_cast<double>(store.pending_compaction_bytes));
  page.counter("sibyl_background_errors_total", "Flushes and compactions that failed",
               store.background_errors);
}

void add_tables(const std::vector<ServerMonitor::TableSize>& sizes, PrometheusPage& page) {
  page.family("sibyl_table_bytes", "gauge", "Size of a table, estimated");
  for (const auto& one : sizes)
    page.sample(static_cast<double>(one.bytes), {{"keyspace", one.keyspace}, {"table", one.table}});
  page.family("sibyl_table_partitions", "gauge", "Partitions of a table, estimated");
  for (const auto& one : sizes)
    page.sample(static_cast<double>(one.partitions), {{"keyspace", one.keyspace}, {"table", one.table}});
}

void add_table_activity(const Activity& activity, const schema::Snapshot& schema, PrometheusPage& page) {
  using engine::TableMeasure;
  page.family("sibyl_table_requests_total", "counter", "Requests answered, by table");
  static constexpr std::pair<const char*, TableMeasure> kinds[] = {
      {"read", TableMeasure::coordinator_read},
      {"scan", TableMeasure::coordinator_scan},
      {"write", TableMeasure::coordinator_write}};
  engine::for_each_user_table(schema, [&](const schema::Table& table) {
    const auto found = activity.tables.find(table.storage_id);
    if (found == activity.tables.end()) return;
    for (const auto& [kind, measure] : kinds)
      page.sample(static_cast<double>(found->second[static_cast<size_t>(measure)].count),
                  {{"keyspace", table.keyspace}, {"table", table.name}, {"kind", kind}});
  });
}

void add_process(const base::ProcessUsage& usage, uint64_t uptime_micros, PrometheusPage& page) {
  page.family("process_cpu_seconds_total", "counter", "CPU time of the process");
  page.sample(usage.cpu_seconds);
  page.gauge("process_resident_memory_bytes", "Resident memory", static_cast<double>(usage.resident_bytes));
  page.gauge("process_virtual_memory_bytes", "Virtual memory", static_cast<double>(usage.virtual_bytes));
  page.gauge("process_open_fds", "Open descriptors", static_cast<double>(usage.open_descriptors));
  page.gauge("process_max_fds", "Maximum number of open descriptors",
             static_cast<double>(usage.max_descriptors));
  page.gauge("process_threads", "Threads", static_cast<double>(usage.threads));
  page.gauge("process_start_time_seconds", "When the process started",
             static_cast<double>(usage.started_seconds));
  page.gauge("sibyl_uptime_seconds", "Time since the server started to serve",
             static_cast<double>(uptime_micros) / 1e6);
  page.family("sibyl_build_info", "gauge", "Version of the server");
  page.sample(
      1, {{"version", SIBYL_VERSION}, {"cassandra", engine::release_version}, {"cql", engine::cql_version}});
}

json::object latencies_by_kind(const Activity& activity) {
  json::object kinds;
  for (size_t i = 0; i < engine::statement_kinds; ++i) {
    const base::HistogramSnapshot& latency = activity.latencies[i];
    if (latency.count == 0) continue;
    kinds[plan::to_string(static_cast<StatementKind>(i))] = {{"count", latency.count},
                                                             {"p50_us", latency.percentile(0.5)},
                                                             {"p99_us", latency.percentile(0.99)},
                                                             {"max_us", latency.max}};
  }
  return kinds;
}

void add_resources(const storage::StoreStatistics& store, json::object& status) {
  const base::ProcessUsage usage = base::own_usage();
  status["cpu_seconds"] = usage.cpu_seconds;
  status["resident_bytes"] = usage.resident_bytes;
  status["disk_bytes"] = store.bytes_on_disk;
  status["commits"] = store.commits;
  status["commit_groups"] = store.commit_groups;
  status["cache_bytes"] = store.cache_bytes;
  status["cache_capacity_bytes"] = store.cache_capacity_bytes;
  status["cache_hits"] = store.cache_hits;
  status["cache_misses"] = store.cache_misses;
  status["running_compactions"] = store.running_compactions;
  status["pending_compaction_bytes"] = store.pending_compaction_bytes;
}

}  // namespace

Activity ServerMonitor::activity() const {
  Activity activity;
  activity.uptime_micros = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started_)
          .count());
  for (const auto& reactor : shared_.reactors) reactor->metrics().add_to(activity);
  activity.connections = shared_.connections.load();
  activity.connections_accepted = shared_.connections_accepted.load(std::memory_order_relaxed);
  activity.connections_refused = shared_.connections_refused.load(std::memory_order_relaxed);
  activity.requests_in_flight = shared_.load.requests();
  activity.request_bytes_in_flight = shared_.load.request_bytes();
  return activity;
}

std::vector<engine::ThreadPool> ServerMonitor::thread_pools() const {
  std::vector<engine::ThreadPool> pools;
  engine::ThreadPool reactors{"Native-Transport-Requests", 0, shared_.reactors.size(), 0, 0, 0};
  for (const auto& reactor : shared_.reactors) {
    reactors.completed += reactor->metrics().answered();
    reactors.active += reactor->load().requests();
  }
  pools.push_back(std::move(reactors));
  for (const auto* pool : {&shared_.pool, &shared_.login_pool})
    if (*pool) pools.push_back((*pool)->usage());
  return pools;
}

std::vector<engine::RunningRequest> ServerMonitor::running() const {
  std::vector<engine::RunningRequest> all;
  for (const auto* pool : {&shared_.pool, &shared_.login_pool})
    if (*pool) std::ranges::move((*pool)->running(), std::back_inserter(all));
  return all;
}

uint64_t ServerMonitor::rests() const {
  uint64_t sum = 0;
  for (const auto& reactor : shared_.reactors) sum += reactor->metrics().rests();
  return sum;
}

size_t ServerMonitor::incoming_bytes() const {
  return shared_.load.incoming().bytes();
}

size_t ServerMonitor::requests_in_flight() const {
  return shared_.load.requests();
}

size_t ServerMonitor::held_requests() const {
  return shared_.load.held_requests();
}

std::vector<ServerMonitor::TableSize> ServerMonitor::table_sizes() {
  constexpr std::chrono::seconds kept{60};
  const base::MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (table_sizes_time_ != decltype(table_sizes_time_){} && now - table_sizes_time_ < kept)
    return table_sizes_;
  std::vector<TableSize> sizes;
  const storage::Store& store = shared_.engine.measurements.store();
  engine::for_each_user_table(*shared_.engine.schema_source.schema(), [&](const schema::Table& table) {
    const engine::Estimate found = engine::estimate(store, table, INT64_MIN, INT64_MAX);
    sizes.push_back({table.keyspace, table.name, engine::table_bytes(store, table), found.partitions});
  });
  table_sizes_ = std::move(sizes);
  table_sizes_time_ = now;
  return table_sizes_;
}

HttpAnswer ServerMonitor::metrics() {
  const Activity now = activity();
  const auto routed = shared_.engine.executor.routed();
  const engine::PreparedStatistics prepared = shared_.engine.measurements.prepared();
  PrometheusPage page;
  add_requests(now, page);
  if (routed) add_routed(*routed, page);
  add_connections(now, page);
  page.counter("sibyl_connections_rested_total", "How often an idle connection released its receive memory",
               rests());
  page.gauge("sibyl_incoming_bytes", "Memory of incomplete messages", static_cast<double>(incoming_bytes()));
  page.gauge("sibyl_requests_held", "Requests held until their client has read earlier results",
             static_cast<double>(held_requests()));
  page.gauge("sibyl_unsent_bytes", "Bytes of results that wait for their clients",
             static_cast<double>(shared_.load.unsent_bytes()));
  add_pools(thread_pools(), page);
  page.gauge("sibyl_prepared_statements", "Prepared statements in memory",
             static_cast<double>(prepared.count));
  page.gauge("sibyl_prepared_statement_bytes", "Memory of prepared statements",
             static_cast<double>(prepared.bytes));
  page.counter("sibyl_prepared_statements_evicted_total",
               "Prepared statements evicted to make room for others", prepared.evicted);
  add_store(shared_.engine.measurements.store().statistics(), page);
  add_tables(table_sizes(), page);
  add_table_activity(now, *shared_.engine.schema_source.schema(), page);
  add_process(base::own_usage(), now.uptime_micros, page);
  return {200, "text/plain; version=0.0.4; charset=utf-8", page.take()};
}

HttpAnswer ServerMonitor::status(const std::string& address) {
  const Activity now = activity();
  uint64_t requests = 0, errors = 0;
  for (const base::HistogramSnapshot& latency : now.latencies) requests += latency.count;
  for (const auto& [code, count] : now.errors) errors += count;
  json::object status{{"version", SIBYL_VERSION},
                      {"cassandra", engine::release_version},
                      {"address", address},
                      {"uptime_seconds", static_cast<double>(now.uptime_micros) / 1e6},
                      {"connections", now.connections},
                      {"requests_in_flight", now.requests_in_flight},
                      {"requests", requests},
                      {"errors", errors},
                      {"bytes_received", now.bytes_received},
                      {"bytes_sent", now.bytes_sent}};
  if (const auto routed = shared_.engine.executor.routed()) {
    status["forwarded"] = routed->forwarded;
    status["spread"] = routed->spread;
  }
  add_resources(shared_.engine.measurements.store().statistics(), status);
  status["statements"] = latencies_by_kind(now);
  json::array& tables = status["tables"].emplace_array();
  for (const TableSize& one : table_sizes())
    tables.push_back({{"keyspace", one.keyspace},
                      {"table", one.table},
                      {"bytes", one.bytes},
                      {"partitions", one.partitions}});
  return {200, "application/json", json::serialize(status) + "\n"};
}

std::map<std::string, Http::Page> ServerMonitor::pages(const std::string& address) {
  return {{"/metrics", [this] { return metrics(); }},
          {"/status", [this, address] { return status(address); }},
          {"/health", [] { return HttpAnswer{200, "text/plain", "ok\n"}; }},
          {"/ready", [this] {
             const bool is_ready = shared_.pool != nullptr && !shared_.is_stopping.load();
             return is_ready ? HttpAnswer{200, "text/plain", "ready\n"}
                             : HttpAnswer{503, "text/plain", "not ready\n"};
           }}};
}

}  // namespace sibyl::server
