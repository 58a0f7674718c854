// `sibyl snapshot`: take, list, verify, clear and restore snapshots of a data directory.
//
// With --cluster, all of them are about a cluster (cluster_snapshot.h).
//
// `take` asks the server that has the directory open, or opens the directory if no server has. The other
// commands work on files that do not change, so they neither need nor disturb a server.
#include "cli/operate/snapshot.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/refuse.h"
#include "cli/commands.h"
#include "cli/configuration/data_option.h"
#include "cli/operate/cluster_snapshot.h"
#include "cli/operate/owner.h"
#include "cli/session/embedded.h"
#include "engine/maintenance/snapshots.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;

base::Result<engine::SnapshotInfo> take(engine::Engine& engine, const std::string& data,
                                        const std::string& name) {
  return engine::take_snapshot(data, name, engine.store(), *engine.schema(),
                               engine.clock().now_micros() / 1000);
}

std::string summary(const engine::SnapshotInfo& snapshot) {
  return json::serialize(
      json::object{{"name", snapshot.name}, {"path", snapshot.path}, {"bytes", snapshot.bytes}});
}

base::Status check_data(const std::string& data) {
  std::error_code ignored;
  if (std::filesystem::exists(data, ignored)) return {};
  return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("there is no data in {}", data))
                        .with_hint("Name a running server with --host, or its data directory with --data."));
}

int run_take(const SnapshotArguments& arguments) {
  if (const auto there = check_data(arguments.place.data); !there)
    return refuse_snapshot(exit_refused, there.error());
  auto taken = server::call_control(arguments.place.data, "snapshot take", {{"name", arguments.name}});
  if (!taken && taken.error().code() == base::ErrorCode::unavailable) {
    if (const auto owner = become_owner_of(arguments.place.data); !owner)
      return refuse_snapshot(exit_refused, owner.error());
    auto engine = shell::open_engine(arguments.place.data);
    if (!engine) return refuse_snapshot(exit_refused, engine.error());
    auto made = take(**engine, arguments.place.data, arguments.name);
    if (!made) return refuse_snapshot(exit_failed, made.error());
    taken = summary(*made);
  }
  if (!taken) return refuse_snapshot(exit_failed, taken.error());
  const json::value summary_json = json::parse(*taken);
  fmt::print("took snapshot {} ({}) in {}\n", summary_json.at("name").as_string().c_str(),
             size_text(summary_json.at("bytes").to_number<uint64_t>()),
             engine::snapshot_path(arguments.place.data, summary_json.at("name").as_string().c_str()));
  return 0;
}

int print_json(const std::vector<engine::SnapshotInfo>& snapshots, const std::vector<std::string>& damaged) {
  json::array list;
  for (const auto& snapshot : snapshots)
    list.push_back(json::object{
        {"name", snapshot.name},
        {"taken", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                              fmt::gmtime(static_cast<std::time_t>(snapshot.taken_millis / 1000)))},
        {"bytes", snapshot.bytes},
        {"own_bytes", snapshot.own_bytes},
        {"tables", snapshot.tables.size()}});
  const json::object all = {{"snapshots", list}, {"damaged", json::value_from(damaged)}};
  fmt::print("{}\n", json::serialize(all));
  return damaged.empty() ? 0 : exit_failed;
}

int run_list(const SnapshotArguments& arguments) {
  if (const auto there = check_data(arguments.place.data); !there)
    return refuse_snapshot(exit_refused, there.error());
  std::vector<std::string> damaged;
  const auto snapshots = engine::list_snapshots(arguments.place.data, &damaged);
  if (!snapshots) return refuse_snapshot(exit_failed, snapshots.error());
  if (arguments.as_json) return print_json(*snapshots, damaged);
  size_t width = 4;
  for (const auto& snapshot : *snapshots) width = std::max(width, snapshot.name.size());
  if (snapshots->empty() && damaged.empty()) fmt::print("no snapshots in {}\n", arguments.place.data);
  if (!snapshots->empty())
    fmt::print("{:<{}}  {:<19}  {:>10}  {:>10}  tables\n", "name", width, "taken (UTC)", "size",
               "of its own");
  for (const auto& snapshot : *snapshots)
    fmt::print("{:<{}}  {:%Y-%m-%d %H:%M:%S}  {:>10}  {:>10}  {}\n", snapshot.name, width,
               fmt::gmtime(static_cast<std::time_t>(snapshot.taken_millis / 1000)), size_text(snapshot.bytes),
               size_text(snapshot.own_bytes), snapshot.tables.size());
  for (const std::string& name : damaged)
    fmt::print(stderr, "{} is damaged: see `sibyl snapshot verify {}`\n", name, name);
  return damaged.empty() ? 0 : exit_failed;
}

// Finds a snapshot. A name means a snapshot of the data directory. A text with a slash is the path of a
// snapshot, which may have been moved.
base::Result<engine::SnapshotInfo> find(const SnapshotArguments& arguments) {
  const bool is_path = arguments.name.find('/') != std::string::npos;
  return engine::read_snapshot(is_path ? arguments.name
                                       : engine::snapshot_path(arguments.place.data, arguments.name));
}

int run_verify(const SnapshotArguments& arguments) {
  const auto snapshot = find(arguments);
  if (!snapshot) return refuse_snapshot(exit_failed, snapshot.error());
  if (const auto sound = engine::verify_snapshot(*snapshot); !sound)
    return refuse_snapshot(exit_failed, sound.error());
  fmt::print("snapshot {} is intact: {} files, {}\n", snapshot->name, snapshot->files.size(),
             size_text(snapshot->bytes));
  return 0;
}

int run_clear(const SnapshotArguments& arguments) {
  std::vector<std::string> names;
  if (arguments.all == !arguments.name.empty())
    return refuse_snapshot(exit_refused, {base::ErrorCode::invalid, "Give a snapshot's name or --all"});
  if (const auto there = check_data(arguments.place.data); !there)
    return refuse_snapshot(exit_refused, there.error());
  if (arguments.all) {
    const auto snapshots = engine::list_snapshots(arguments.place.data, &names);
    if (!snapshots) return refuse_snapshot(exit_failed, snapshots.error());
    for (const auto& snapshot : *snapshots) names.push_back(snapshot.name);
  } else {
    names.push_back(arguments.name);
  }
  for (const std::string& name : names) {
    if (const auto cleared = engine::clear_snapshot(arguments.place.data, name); !cleared)
      return refuse_snapshot(exit_failed, cleared.error());
    fmt::print("cleared snapshot {}\n", name);
  }
  return 0;
}

int run_restore(const SnapshotArguments& arguments) {
  const auto snapshot = find(arguments);
  if (!snapshot) return refuse_snapshot(exit_failed, snapshot.error());
  if (const auto restored = engine::restore_snapshot(*snapshot, arguments.to); !restored)
    return refuse_snapshot(exit_failed, restored.error());
  if (const auto given = give_to_owner_of(snapshot->path, arguments.to); !given)
    return refuse_snapshot(exit_failed, given.error());
  fmt::print("restored snapshot {} ({}) to {}\nserve it with: sibyl serve --data {}\n", snapshot->name,
             size_text(snapshot->bytes), arguments.to, arguments.to);
  return 0;
}

void end_with(int status) {
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace

void add_snapshot_control(server::Control& control, engine::Engine& engine, const std::string& data) {
  control.add("snapshot take",
              [&engine, data](const server::ControlArguments& arguments) -> base::Result<std::string> {
                const auto name = arguments.find("name");
                SIBYL_ASSIGN(const engine::SnapshotInfo made,
                             take(engine, data, name == arguments.end() ? "" : name->second));
                return summary(made);
              });
}

void add_snapshot_command(CLI::App& app) {
  auto arguments = std::make_shared<SnapshotArguments>();
  CLI::App* command = app.add_subcommand("snapshot", "Take and restore snapshots of the whole database");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const SnapshotArguments&),
                       int (*on_cluster)(const SnapshotArguments&)) {
    CLI::App* sub = command->add_subcommand(name, what);
    add_database_options(*sub, arguments->place, "The data directory; a server may be using it");
    sub->footer(
        "Exit status: 0 done, 1 it failed or a snapshot is damaged, 2 wrong usage or no such directory.");
    sub->callback([arguments, run, on_cluster] {
      end_with(arguments->place.is_cluster() ? on_cluster(*arguments) : run(*arguments));
    });
    return sub;
  };
  CLI::App* take =
      add("take", "Take a snapshot, with every write that has been acknowledged", run_take, take_on_cluster);
  take->add_option("name", arguments->name, "The snapshot's name (the current time)");
  // --name means the same as the argument, for scripts.
  take->add_option("--name", arguments->name)->group("");
  add("list", "Show the snapshots", run_list, list_on_cluster)
      ->add_flag("--json", arguments->as_json, "Print one JSON object");
  constexpr const char* which = "A snapshot's name, or the path of its directory";
  add("verify", "Read a snapshot's files and compare their checksums", run_verify, verify_on_cluster)
      ->add_option("name", arguments->name, which)
      ->required();
  CLI::App* clear = add("clear", "Remove a snapshot", run_clear, clear_on_cluster);
  clear->add_option("name", arguments->name, "The snapshot's name");
  clear->add_flag("--all", arguments->all, "All of them");
  CLI::App* restore =
      add("restore", "Create a new data directory from a snapshot", run_restore, restore_on_cluster);
  restore->add_option("name", arguments->name, which)->required();
  restore
      ->add_option("--to", arguments->to,
                   "The new directory; for a cluster, a rados:POOL[/NAMESPACE] that has no cluster")
      ->required();
}

}  // namespace sibyl::cli
