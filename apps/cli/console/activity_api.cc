#include "cli/console/activity_api.h"

#include <fmt/format.h>

#include "cli/console/statements.h"
#include "engine/maintenance/snapshots.h"
#include "types/identifier.h"

namespace sibyl::cli::console {
namespace {

json::object snapshot_json(const engine::SnapshotInfo& snapshot) {
  return {{"name", snapshot.name},          {"path", snapshot.path},
          {"taken", snapshot.taken_millis}, {"tables", snapshot.tables.size()},
          {"files", snapshot.files.size()}, {"bytes", snapshot.bytes},
          {"own_bytes", snapshot.own_bytes}};
}

json::array list_snapshots(const Call& call) {
  json::array out;
  if (!call.settings.has_directory()) return out;
  const auto snapshots = engine::list_snapshots(call.settings.data);
  if (!snapshots) return out;
  for (const engine::SnapshotInfo& snapshot : *snapshots) out.push_back(snapshot_json(snapshot));
  return out;
}

// A snapshot has the data of all tables, and takes space and time of the disk.
base::Status check_may_take_snapshots(const Call& call) {
  if (call.settings.show_cluster)
    return base::fail(
        base::Error(base::ErrorCode::invalid, "The console cannot take or verify snapshots of a cluster")
            .with_hint("`sibyl snapshot` with --cluster can"));
  if (!call.settings.has_directory()) return base::invalid("A server in memory has no snapshots");
  if (call.settings.read_only)
    return base::fail(base::ErrorCode::unauthorized, "This console is read-only (console_read_only)");
  if (call.login() == nullptr) return {};
  SIBYL_ASSIGN(const json::array roles,
               select_objects(call.engine, nullptr,
                              fmt::format("SELECT is_superuser FROM system_auth.roles WHERE role = {}",
                                          types::quote_string(call.login()->role))));
  const bool is_superuser = !roles.empty() && roles.front().at("is_superuser") == json::value(true);
  if (is_superuser) return {};
  return base::fail(base::ErrorCode::unauthorized, "Only superusers may take and verify snapshots");
}

}  // namespace

Answer show_activity(const Call& call) {
  json::object out;
  static constexpr std::pair<const char*, const char*> parts[] = {
      {"clients",
       "SELECT address, port, username, driver_name, driver_version, keyspace_name, request_count, "
       "ssl_protocol, connection_stage FROM system_views.clients"},
      {"running", "SELECT * FROM system_views.queries"},
      {"tasks", "SELECT * FROM system_views.sstable_tasks"},
      {"pools", "SELECT * FROM system_views.thread_pools"},
      {"log", "SELECT timestamp, level, message FROM system_views.system_logs"}};
  for (const auto& [name, text] : parts) {
    SIBYL_ASSIGN(out[name], select_objects(call.engine, call.login(), text));
  }
  out["has_snapshots"] = call.settings.has_directory();
  out["snapshots"] = list_snapshots(call);
  return out;
}

Answer list_settings(const Call& call) {
  // The role must be allowed to read system_views.settings, which shows the same values.
  SIBYL_TRY(select_objects(call.engine, call.login(), "SELECT * FROM system_views.settings LIMIT 1"));
  return json::object{{"settings", call.settings.settings}};
}

Answer show_cluster(const Call& call) {
  SIBYL_TRY(select_objects(call.engine, call.login(), "SELECT * FROM system_views.settings LIMIT 1"));
  if (!call.settings.show_cluster) return base::invalid("This server is not in a cluster");
  SIBYL_ASSIGN(json::object status, call.settings.show_cluster());
  return status;
}

Answer take_snapshot(const Call& call) {
  SIBYL_TRY(check_may_take_snapshots(call));
  SIBYL_ASSIGN(const engine::SnapshotInfo taken,
               engine::take_snapshot(call.settings.data, call.text("name"), call.engine.store(),
                                     *call.engine.schema(), call.engine.clock().now_micros() / 1000));
  return snapshot_json(taken);
}

Answer verify_snapshot(const Call& call) {
  SIBYL_TRY(check_may_take_snapshots(call));
  const std::string name = call.text("name");
  SIBYL_ASSIGN(const std::vector<engine::SnapshotInfo> all, engine::list_snapshots(call.settings.data));
  for (const engine::SnapshotInfo& snapshot : all) {
    if (snapshot.name != name) continue;
    SIBYL_TRY(engine::verify_snapshot(snapshot));
    return json::object{{"name", name}, {"intact", true}};
  }
  return base::invalid(fmt::format("There is no snapshot {}", name));
}

}  // namespace sibyl::cli::console
