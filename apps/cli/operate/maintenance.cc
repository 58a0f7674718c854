// `sibyl flush` and `sibyl compact`. The server that has the directory open runs them, over its control
// socket (server/http/control.h). If no server has it open, the command opens the directory itself.
#include "cli/operate/maintenance.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/cluster/cluster_calls.h"
#include "cli/command_line/refuse.h"
#include "cli/commands.h"
#include "cli/configuration/data_option.h"
#include "cli/operate/owner.h"
#include "cli/session/embedded.h"
#include "engine/maintenance/compact.h"

namespace sibyl::cli {
namespace {

struct MaintenanceArguments {
  DatabasePlace place{default_data_directory, {}};
  std::string table;  // "keyspace.table", "keyspace", or empty: everything
};

base::Status perform(engine::Engine& engine, const std::string& command, const std::string& table) {
  if (command == "flush") return engine.flush();
  return engine::compact(engine, table);
}

int run_on_cluster(const std::string& command, const MaintenanceArguments& arguments) {
  const auto calls = ClusterCalls::connect(arguments.place.cluster);
  if (!calls) return refuse(command, exit_failed, calls.error());
  const base::Status done = (*calls)->run_on_shards(command, {{"table", arguments.table}});
  return done ? 0 : refuse(command, exit_failed, done.error());
}

int run(const std::string& command, const MaintenanceArguments& arguments) {
  if (arguments.place.is_cluster()) return run_on_cluster(command, arguments);
  const std::string& data = arguments.place.data;
  if (!std::filesystem::exists(data))
    return refuse(command, exit_refused,
                  base::Error(base::ErrorCode::invalid, fmt::format("there is no data in {}", data))
                      .with_hint("Name a running server with --host, or its data directory with --data."));
  const auto done = server::call_control(data, command, {{"table", arguments.table}});
  if (done) return 0;
  if (done.error().code() != base::ErrorCode::unavailable) return refuse(command, exit_failed, done.error());
  if (const auto owner = become_owner_of(data); !owner) return refuse(command, exit_refused, owner.error());
  auto engine = shell::open_engine(data);
  if (!engine) return refuse(command, exit_refused, engine.error());
  if (const base::Status status = perform(**engine, command, arguments.table); !status)
    return refuse(command, exit_failed, status.error());
  return 0;
}

}  // namespace

void add_maintenance_control(server::Control& control, engine::Engine& engine) {
  for (const char* command : {"flush", "compact"})
    control.add(command,
                [&engine, command = std::string(command)](
                    const server::ControlArguments& arguments) -> base::Result<std::string> {
                  const auto table = arguments.find("table");
                  SIBYL_TRY(perform(engine, command, table == arguments.end() ? "" : table->second));
                  return std::string("{}");
                });
}

void add_maintenance_commands(CLI::App& app) {
  const auto add = [&](const char* name, const char* help) {
    auto arguments = std::make_shared<MaintenanceArguments>();
    CLI::App* command = app.add_subcommand(name, help);
    add_database_options(*command, arguments->place, "The data directory of the server");
    command->callback([arguments, name] {
      if (const int status = run(name, *arguments); status != 0) throw CLI::RuntimeError(status);
    });
    return std::pair(command, arguments);
  };
  add("flush", "Flush the memory tables to data files");
  const auto [compact, arguments] =
      add("compact", "Rewrite data files without deleted, expired and overwritten data");
  compact->add_option("table", arguments->table, "KEYSPACE or KEYSPACE.TABLE (everything)");
}

}  // namespace sibyl::cli
