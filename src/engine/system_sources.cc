#include "engine/system_sources.h"

#include <filesystem>
#include <system_error>

#include "auth/password.h"
#include "engine/builds/builds.h"
#include "engine/maintenance/snapshots.h"
#include "engine/system_tables/estimates.h"
#include "engine/system_tables/index_rows.h"
#include "engine/system_tables/monitor_rows.h"
#include "engine/system_tables/usage_rows.h"
#include "plan/guardrails_settings.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

// In Cassandra's "IndexInfo", the column table_name holds the keyspace.
std::vector<SystemRow> built_index_rows(const schema::Snapshot& schema) {
  std::vector<SystemRow> rows;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [table_name, table] : keyspace->tables)
      for (const schema::Index& index : table->indexes)
        if (index.is_built) rows.push_back({{"table_name", name}, {"index_name", index.name}});
  return rows;
}

std::vector<SystemRow> built_view_rows(const schema::Snapshot& schema) {
  std::vector<SystemRow> rows;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [view_name, view] : keyspace->views)
      if (view->view->is_built)
        rows.push_back({{"keyspace_name", name},
                        {"view_name", view_name},
                        {"status_replicated", types::encode_boolean(true)}});
  return rows;
}

std::vector<SystemRow> view_status_rows(const schema::Snapshot& schema, const Bytes& host_id) {
  std::vector<SystemRow> rows;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [view_name, view] : keyspace->views)
      rows.push_back({{"keyspace_name", name},
                      {"view_name", view_name},
                      {"host_id", host_id},
                      {"status", view->view->is_built ? "SUCCESS" : "STARTED"}});
  return rows;
}

std::vector<SystemRow> prepared_rows(const Statements& statements) {
  std::vector<SystemRow> rows;
  statements.prepared().for_each([&](const std::string& id, const plan::Prepared& plan) {
    rows.push_back({{"prepared_id", id}, {"query_string", auth::redact_passwords(plan.text)}});
    if (!plan.keyspace.empty()) rows.back().emplace_back("logged_keyspace", plan.keyspace);
  });
  return rows;
}

// Tasks of the store, and builds.
std::vector<SystemRow> task_rows(const Sources& sources) {
  std::vector<SystemRow> rows =
      compaction_rows(sources.store, *sources.schema_source.schema(), sources.options.data);
  for (SystemRow& row : build_task_rows(*sources.builder)) rows.push_back(std::move(row));
  return rows;
}

void install_builds(SystemTables& tables, const Sources& of) {
  tables.set_source("system", "IndexInfo", [of] { return built_index_rows(*of.schema_source.schema()); });
  tables.set_source("system", "built_views", [of] { return built_view_rows(*of.schema_source.schema()); });
  tables.set_source("system_views", "sai_column_indexes",
                    [of] { return attached_index_rows(*of.schema_source.schema(), *of.builder); });
  tables.set_source("system", "view_builds_in_progress", [of] { return view_build_rows(*of.builder); });
  tables.set_source("system_distributed", "view_build_status",
                    [of] { return view_status_rows(*of.schema_source.schema(), of.host_id); });
  tables.set_source("system_views", "sstable_tasks", [of] { return task_rows(of); });
}

void install_statistics(SystemTables& tables, const Sources& of) {
  tables.set_source("system_views", "table_statistics",
                    [of] { return table_statistic_rows(of.store, of.usage(), *of.schema_source.schema()); });
  tables.set_source("system_views", "hot_partitions",
                    [of] { return hot_partition_rows(of.usage(), *of.schema_source.schema()); });
  tables.set_source("system_views", "query_shapes",
                    [of] { return query_shape_rows(of.usage(), *of.schema_source.schema()); });
}

}  // namespace

namespace {

// The directory as clients with another working directory find it.
std::string shown_directory(const Options& options) {
  std::error_code ignored;
  const bool is_path = options.data != ":memory:" && !options.shared;
  const auto absolute = is_path ? std::filesystem::absolute(options.data, ignored) : std::filesystem::path();
  return absolute.empty() ? options.data : absolute.lexically_normal().string();
}

}  // namespace

std::map<std::string, std::string> shown_settings(const Options& options, const Node& node) {
  const bool periodic = options.commitlog_sync == Options::Sync::periodic;
  std::map<std::string, std::string> settings = {{"authenticator", to_string(options.auth.authenticator)},
                                                 {"authorizer", to_string(options.auth.authorizer)},
                                                 {"cluster_name", options.cluster_name},
                                                 {"commitlog_sync", periodic ? "periodic" : "group"},
                                                 {"endpoint_snitch", "SimpleSnitch"},
                                                 {"native_transport_port", std::to_string(node.port)},
                                                 {"num_tokens", "1"},
                                                 {"partitioner", partitioner_class},
                                                 {"rpc_address", node.address}};
  for (auto& [name, value] : plan::settings_of(options.guardrails)) settings.emplace(name, value);
  for (const auto& [name, value] : options.settings) settings[name] = value;
  settings["data_file_directories"] = "[" + shown_directory(options) + "]";
  // Port 0 has been replaced by the actual port.
  settings["native_transport_port"] = std::to_string(node.port);
  return settings;
}

void install_sources(SystemTables& tables, const Sources& of) {
  tables.set_source("system", "prepared_statements", [of] { return prepared_rows(of.statements); });
  tables.set_source("system", "size_estimates",
                    [of] { return size_estimate_rows(of.store, *of.schema_source.schema()); });
  tables.set_source("system", "table_estimates",
                    [of] { return table_estimate_rows(of.store, *of.schema_source.schema()); });
  tables.set_source("system_views", "snapshots", [of] { return snapshot_rows(of.options.data); });
  tables.set_source("system_views", "disk_usage",
                    [of] { return disk_usage_rows(of.store, *of.schema_source.schema()); });
  install_builds(tables, of);
  install_statistics(tables, of);
}

}  // namespace sibyl::engine
