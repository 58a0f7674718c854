#include "engine/system_tables/monitor_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "engine/inet.h"
#include "engine/options.h"
#include "row/record_key.h"
#include "storage/internals.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

Bytes bigint(uint64_t value) {
  return types::encode_int64(static_cast<int64_t>(value));
}

Bytes integer(uint64_t value) {
  return types::encode_int32(static_cast<int32_t>(std::min<uint64_t>(value, INT32_MAX)));
}

// Rounds to three decimals, as in Cassandra.
Bytes rounded(double value) {
  return types::encode_double(std::round(value * 1000) / 1000);
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double seconds(uint64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

const base::HistogramSnapshot& measured(const Activity& activity, const schema::Table& table,
                                        TableMeasure measure) {
  static const base::HistogramSnapshot nothing;
  const auto found = activity.tables.find(table.storage_id);
  return found == activity.tables.end() ? nothing : found->second[static_cast<size_t>(measure)];
}

std::optional<uint32_t> table_id_of(BytesView key) {
  row::RecordKey parsed;
  if (!row::parse_record_key(key, parsed)) return std::nullopt;
  return parsed.table_id;
}

std::map<uint32_t, const schema::Table*> tables_by_id(const schema::Snapshot& schema) {
  std::map<uint32_t, const schema::Table*> tables;
  for_each_user_table(schema, [&](const schema::Table& table) { tables[table.storage_id] = &table; });
  return tables;
}

// A version-1 UUID of the task's start time. The same task always gets the same UUID.
Bytes task_uuid(const storage::StoreTask& task) {
  constexpr uint64_t epoch_offset = 0x01b21dd213814000;  // 100 ns steps from 1582 to 1970
  const uint64_t ticks = static_cast<uint64_t>(task.started_micros) * 10 + epoch_offset;
  Bytes bytes;
  base::append_big_endian(bytes, static_cast<uint32_t>(ticks));
  base::append_big_endian(bytes, static_cast<uint16_t>(ticks >> 32));
  base::append_big_endian(bytes, static_cast<uint16_t>(((ticks >> 48) & 0x0fff) | 0x1000));
  base::append_big_endian(bytes, static_cast<uint64_t>(task.id) | (uint64_t{0x80} << 56));
  return bytes;
}

}  // namespace

void for_each_user_table(const schema::Snapshot& schema,
                         const std::function<void(const schema::Table&)>& visit) {
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_system) continue;
    for (const auto& [table_name, table] : keyspace->tables) visit(*table);
    for (const auto& [view_name, view] : keyspace->views) visit(*view);
  }
}

SystemRow cache_row(const CacheCounts& cache) {
  const uint64_t requests = cache.hits + cache.misses;
  return {{"name", cache.name},
          {"capacity_bytes", bigint(cache.capacity_bytes)},
          {"entry_count", integer(cache.entries)},
          {"hit_count", bigint(cache.hits)},
          {"hit_ratio", types::encode_double(share(cache.hits, requests))},
          {"recent_hit_rate_per_second", bigint(static_cast<uint64_t>(cache.hits_per_second))},
          {"recent_request_rate_per_second", bigint(static_cast<uint64_t>(cache.requests_per_second))},
          {"request_count", bigint(requests)},
          {"size_bytes", bigint(cache.bytes)}};
}

std::vector<SystemRow> thread_pool_rows(const std::vector<ThreadPool>& pools) {
  std::vector<SystemRow> rows;
  for (const ThreadPool& pool : pools)
    rows.push_back({{"name", pool.name},
                    {"active_tasks", integer(pool.active)},
                    {"active_tasks_limit", integer(pool.limit)},
                    {"blocked_tasks", bigint(0)},
                    {"blocked_tasks_all_time", bigint(pool.refused)},
                    {"completed_tasks", bigint(pool.completed)},
                    {"pending_tasks", integer(pool.pending)}});
  return rows;
}

std::vector<SystemRow> query_rows(const std::vector<RunningRequest>& running) {
  std::vector<SystemRow> rows;
  for (const RunningRequest& one : running)
    rows.push_back({{"thread_id", one.thread},
                    {"queued_micros", bigint(one.queued_micros)},
                    {"running_micros", bigint(one.running_micros)},
                    {"task", one.task}});
  return rows;
}

std::vector<SystemRow> batch_metric_rows(const Activity& activity) {
  static constexpr const char* names[] = {"partitions_per_logged_batch", "partitions_per_unlogged_batch",
                                          "partitions_per_counter_batch"};
  std::vector<SystemRow> rows;
  for (size_t i = 0; i < activity.batch_partitions.size(); ++i) {
    const base::HistogramSnapshot& partitions = activity.batch_partitions[i];
    rows.push_back({{"name", names[i]},
                    {"max", bigint(partitions.max)},
                    {"p50th", types::encode_double(static_cast<double>(partitions.percentile(0.5)))},
                    {"p999th", types::encode_double(static_cast<double>(partitions.percentile(0.999)))},
                    {"p99th", types::encode_double(static_cast<double>(partitions.percentile(0.99)))}});
  }
  return rows;
}

std::vector<SystemRow> cql_metric_rows(const Activity& activity, uint64_t prepared, uint64_t evicted) {
  const uint64_t executed = activity.prepared_executions + activity.regular_executions;
  const std::pair<const char*, double> values[] = {
      {"prepared_statements_count", static_cast<double>(prepared)},
      {"prepared_statements_evicted", static_cast<double>(evicted)},
      {"prepared_statements_executed", static_cast<double>(activity.prepared_executions)},
      {"prepared_statements_ratio", share(activity.prepared_executions, executed)},
      {"regular_statements_executed", static_cast<double>(activity.regular_executions)}};
  std::vector<SystemRow> rows;
  for (const auto& [name, value] : values)
    rows.push_back({{"name", name}, {"value", types::encode_double(value)}});
  return rows;
}

std::vector<SystemRow> latency_rows(const Activity& activity, const schema::Snapshot& schema,
                                    TableMeasure measure) {
  const auto milliseconds = [](uint64_t micros) { return rounded(static_cast<double>(micros) / 1000); };
  std::vector<SystemRow> rows;
  for_each_user_table(schema, [&](const schema::Table& table) {
    const base::HistogramSnapshot& found = measured(activity, table, measure);
    const double uptime = seconds(activity.uptime_micros);
    rows.push_back({{"keyspace_name", table.keyspace},
                    {"table_name", table.name},
                    {"count", bigint(found.count)},
                    {"max_ms", milliseconds(found.max)},
                    {"p50th_ms", milliseconds(found.percentile(0.5))},
                    {"p99th_ms", milliseconds(found.percentile(0.99))},
                    {"per_second", rounded(uptime > 0 ? static_cast<double>(found.count) / uptime : 0)}});
  });
  return rows;
}

std::vector<SystemRow> per_read_rows(const Activity& activity, const schema::Snapshot& schema,
                                     TableMeasure measure) {
  std::vector<SystemRow> rows;
  for_each_user_table(schema, [&](const schema::Table& table) {
    const base::HistogramSnapshot& found = measured(activity, table, measure);
    const auto number = [](uint64_t value) { return types::encode_double(static_cast<double>(value)); };
    rows.push_back({{"keyspace_name", table.keyspace},
                    {"table_name", table.name},
                    {"count", bigint(found.count)},
                    {"max", number(found.max)},
                    {"p50th", number(found.percentile(0.5))},
                    {"p99th", number(found.percentile(0.99))}});
  });
  return rows;
}

// A file may hold records of several tables. A task is shown under the first table that it concerns.
std::vector<SystemRow> compaction_rows(const storage::Store& store, const schema::Snapshot& schema,
                                       const std::string& directory) {
  const std::map<uint32_t, const schema::Table*> tables = tables_by_id(schema);
  std::map<uint64_t, uint64_t> read;
  if (const auto* internals = dynamic_cast<const storage::Internals*>(&store))
    read = internals->task_bytes_read();
  std::vector<SystemRow> rows;
  for (const storage::StoreTask& task : store.tasks()) {
    uint64_t bytes = 0;
    const schema::Table* table = nullptr;
    for (const storage::StoreFile& file : task.inputs) {
      bytes += file.bytes;
      const auto id = table_id_of(file.first_key);
      if (table != nullptr || !id) continue;
      if (const auto found = tables.lower_bound(*id); found != tables.end()) table = found->second;
    }
    const uint64_t done = std::min(read[task.id], bytes);
    rows.push_back({{"keyspace_name", table != nullptr ? table->keyspace : "*"},
                    {"table_name", table != nullptr ? table->name : "*"},
                    {"task_id", task_uuid(task)},
                    {"completion_ratio", types::encode_double(share(done, bytes))},
                    {"kind", "compaction"},
                    {"progress", bigint(done)},
                    {"sstables", integer(task.inputs.size())},
                    {"target_directory", directory},
                    {"total", bigint(bytes)},
                    {"unit", "bytes"}});
  }
  return rows;
}

// Upper bound of a table's bytes in the largest file that holds records of it.
std::vector<SystemRow> max_file_rows(const storage::Store& store, const schema::Snapshot& schema) {
  std::map<uint32_t, uint64_t> largest;
  const std::map<uint32_t, const schema::Table*> tables = tables_by_id(schema);
  for (const storage::StoreFile& file : store.files()) {
    const auto first = table_id_of(file.first_key), last = table_id_of(file.last_key);
    if (!first || !last) continue;
    for (auto at = tables.lower_bound(*first); at != tables.end() && at->first <= *last; ++at) {
      uint64_t bytes = file.bytes;
      if (*first != *last)
        bytes =
            std::min(bytes, store.approximate_size(row::table_begin(at->first), row::table_end(at->first)));
      largest[at->first] = std::max(largest[at->first], bytes);
    }
  }
  std::vector<SystemRow> rows;
  for (const auto& [id, table] : tables)
    rows.push_back({{"keyspace_name", table->keyspace},
                    {"table_name", table->name},
                    {"mebibytes", bigint((largest[id] + (1u << 20) - 1) >> 20)}});
  return rows;
}

std::vector<SystemRow> max_partition_rows(const storage::Store& store, const schema::Snapshot& schema) {
  const std::map<uint32_t, uint64_t> largest = store.largest_partitions();
  std::vector<SystemRow> rows;
  for_each_user_table(schema, [&](const schema::Table& table) {
    const auto found = largest.find(table.storage_id);
    const uint64_t bytes = found == largest.end() ? 0 : found->second;
    rows.push_back({{"keyspace_name", table.keyspace},
                    {"table_name", table.name},
                    {"mebibytes", bigint((bytes + (1u << 20) - 1) >> 20)}});
  });
  return rows;
}

std::vector<SystemRow> log_rows(const std::vector<LogLine>& lines) {
  std::vector<SystemRow> rows;
  int64_t millisecond = 0;
  uint64_t order = 0;
  for (const LogLine& line : lines) {
    order = line.time_micros / 1000 == millisecond ? order + 1 : 0;
    millisecond = line.time_micros / 1000;
    rows.push_back({{"timestamp", types::encode_int64(millisecond)},
                    {"order_in_millisecond", integer(order)},
                    {"level", line.level},
                    {"logger", line.logger},
                    {"message", line.message}});
  }
  return rows;
}

std::vector<SystemRow> gossip_rows(const Node& node, const Bytes& schema_version, uint64_t bytes_on_disk) {
  const Bytes address = inet(node.address);
  const std::string native = fmt::format("{}:{}", node.address, node.port);
  const auto uuid = [](const Bytes& bytes) {
    std::string text;
    for (size_t i = 0; i < bytes.size(); ++i)
      text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                          static_cast<unsigned char>(bytes[i]));
    return text;
  };
  return {{{"address", address},
           {"port", types::encode_int32(storage_port)},
           {"dc", node.data_center},
           {"generation", types::encode_int32(static_cast<int32_t>(node.started_seconds))},
           {"host_id", uuid(node.host_id)},
           {"hostname", node.address},
           {"load", fmt::format("{}.0", bytes_on_disk)},
           {"native_address_and_port", native},
           {"rack", node.rack},
           {"release_version", release_version},
           {"rpc_address", node.address},
           {"rpc_ready", "true"},
           {"schema", uuid(schema_version)},
           {"status_with_port", std::string("NORMAL,") + node_token}}};
}

}  // namespace sibyl::engine
