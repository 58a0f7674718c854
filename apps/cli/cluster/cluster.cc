// `sibyl cluster`: creates a cluster on Ceph RADOS, and shows its state. Neither needs a server.
#include "cli/cluster/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "cli/cluster/cluster_snapshots.h"
#include "cli/cluster/show.h"
#include "cli/cluster/storage.h"
#include "cli/command_line/refuse.h"
#include "cluster/state.h"

namespace sibyl::cli {
namespace {

using storage::objects::ObjectStore;

struct ClusterArguments {
  ClusterOptions storage;
  std::string pool, object_namespace;
  uint32_t shards = 64;
  int64_t lease_ms = 5'000;
  bool as_json = false, watch = false;
};

int refuse_cluster(const base::Error& error) {
  return refuse("cluster", exit_failed, error);
}

base::Result<std::unique_ptr<ObjectStore>> connect(ClusterArguments& arguments) {
  arguments.storage.storage = "rados:" + arguments.pool;
  if (!arguments.object_namespace.empty()) arguments.storage.storage += "/" + arguments.object_namespace;
  return connect_to_storage(arguments.storage);
}

int create(ClusterArguments& arguments) {
  auto store = connect(arguments);
  if (!store) return refuse_cluster(store.error());
  const auto reply = storage::objects::Blocking(**store).mutate(
      cluster::state_object, cluster::create_state(new_settings(arguments.shards, arguments.lease_ms)));
  if (reply.is_refused(storage::objects::Reason::exists))
    return refuse("cluster", exit_failed, fmt::format("{} has a cluster already", arguments.storage.storage),
                  "`sibyl cluster status` shows it; another --namespace holds another cluster");
  if (!reply.is_done())
    return refuse_cluster(
        storage::objects::error_of(reply, "creating the cluster in " + arguments.storage.storage));
  fmt::print("created {}\nstart servers with: sibyl serve --cluster {}\n", arguments.storage.storage,
             arguments.storage.storage);
  return 0;
}

int show_once(ObjectStore& store, const ClusterArguments& arguments) {
  const auto status = cluster_status(store, arguments.storage.storage);
  if (!status) return refuse_cluster(status.error());
  if (arguments.watch && ::isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[2J");
  fmt::print("{}{}", arguments.as_json ? boost::json::serialize(*status) : cluster_status_text(*status),
             arguments.as_json ? "\n" : "");
  std::fflush(stdout);
  return 0;
}

int show(ClusterArguments& arguments) {
  auto store = connect(arguments);
  if (!store) return refuse_cluster(store.error());
  int status = show_once(**store, arguments);
  while (arguments.watch && status == 0 && std::ferror(stdout) == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    status = show_once(**store, arguments);
  }
  return status;
}

void add_storage_options(CLI::App& command, ClusterArguments& arguments) {
  command.add_option("--ceph", arguments.storage.configuration, "Ceph's configuration file")
      ->capture_default_str();
  command.add_option("--user", arguments.storage.user, "The user of Ceph, without client.")
      ->capture_default_str();
  command.add_option("--pool", arguments.pool, "The pool, which must exist and be replicated")->required();
  command.add_option("--namespace", arguments.object_namespace,
                     "A namespace in the pool: each can hold a cluster of its own");
}

}  // namespace

void add_cluster_command(CLI::App& app) {
  auto arguments = std::make_shared<ClusterArguments>();
  CLI::App* command = app.add_subcommand("cluster", "Create a cluster on Ceph RADOS, or show its state");
  command->require_subcommand(1);
  const auto on_run = [arguments](CLI::App& sub, int (*run)(ClusterArguments&)) {
    add_storage_options(sub, *arguments);
    sub.callback([arguments, run] {
      if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
    });
  };
  CLI::App* creating = command->add_subcommand("create", "Create an empty cluster in a pool");
  on_run(*creating, create);
  creating
      ->add_option("--shards", arguments->shards,
                   "Number of shards, into which the database is divided among the servers. It cannot be "
                   "changed later")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  creating
      ->add_option("--lease-ms", arguments->lease_ms,
                   "Duration of leases: how long others wait for a server that does not answer")
      ->check(CLI::Range(500, 600'000))
      ->capture_default_str();
  CLI::App* showing = command->add_subcommand("status", "Show servers, shards, sizes and leases");
  on_run(*showing, show);
  showing->add_flag("--json", arguments->as_json, "As JSON");
  showing->add_flag("--watch", arguments->watch, "Repeat every second, until interrupted");
}

}  // namespace sibyl::cli
