#include "cli/operate/cluster_snapshot.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <vector>

#include "cli/cluster/cluster_calls.h"
#include "cli/cluster/cluster_snapshots.h"
#include "cli/cluster/storage.h"
#include "cli/command_line/refuse.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;
using storage::objects::ObjectStore;
using storage::rocksdb::ObjectSnapshot;

// Connects, and runs the task with the storage. Returns the exit status.
template <typename Task>
int with_storage(const SnapshotArguments& arguments, Task task) {
  const auto store = connect_to_storage(arguments.place.cluster);
  if (!store) return refuse_snapshot(exit_failed, store.error());
  const base::Status done = task(**store);
  return done ? 0 : refuse_snapshot(exit_failed, done.error());
}

std::string time_text(int64_t millis) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(millis / 1000)));
}

void print_json(const std::vector<ObjectSnapshot>& snapshots) {
  json::array list;
  for (const ObjectSnapshot& snapshot : snapshots) {
    json::object one{{"name", snapshot.name}, {"complete", snapshot.is_complete}};
    if (snapshot.is_complete) {
      one["taken"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                 fmt::gmtime(static_cast<std::time_t>(snapshot.taken_millis / 1000)));
      one["bytes"] = snapshot.bytes();
      one["tables"] = snapshot.tables.size();
    }
    list.push_back(std::move(one));
  }
  fmt::print("{}\n", json::serialize(json::object{{"snapshots", std::move(list)}}));
}

void print_list(const std::vector<ObjectSnapshot>& snapshots, const std::string& place) {
  if (snapshots.empty()) {
    fmt::print("no snapshots in {}\n", place);
    return;
  }
  size_t width = 4;
  for (const ObjectSnapshot& snapshot : snapshots) width = std::max(width, snapshot.name.size());
  fmt::print("{:<{}}  {:<19}  {:>10}  tables\n", "name", width, "taken (UTC)", "size");
  for (const ObjectSnapshot& snapshot : snapshots)
    if (snapshot.is_complete)
      fmt::print("{:<{}}  {:<19}  {:>10}  {}\n", snapshot.name, width, time_text(snapshot.taken_millis),
                 size_text(snapshot.bytes()), snapshot.tables.size());
    else
      fmt::print("{:<{}}  not complete: it is being taken, or that has failed\n", snapshot.name, width);
}

}  // namespace

int refuse_snapshot(int status, const base::Error& error) {
  return cli::refuse("snapshot", status, error);
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", size, unit);
}

int take_on_cluster(const SnapshotArguments& arguments) {
  const auto calls = ClusterCalls::connect(arguments.place.cluster);
  if (!calls) return refuse_snapshot(exit_failed, calls.error());
  const auto taken = take_cluster_snapshot(**calls, arguments.name);
  if (!taken) return refuse_snapshot(exit_failed, taken.error());
  fmt::print("took snapshot {} ({}) in {}\n", taken->name, size_text(taken->bytes()),
             arguments.place.cluster.storage);
  return 0;
}

int list_on_cluster(const SnapshotArguments& arguments) {
  return with_storage(arguments, [&](ObjectStore& store) -> base::Status {
    SIBYL_ASSIGN(const auto snapshots, storage::rocksdb::list_object_snapshots(store));
    arguments.as_json ? print_json(snapshots) : print_list(snapshots, arguments.place.cluster.storage);
    return {};
  });
}

int verify_on_cluster(const SnapshotArguments& arguments) {
  return with_storage(arguments, [&](ObjectStore& store) -> base::Status {
    SIBYL_ASSIGN(const ObjectSnapshot snapshot,
                 storage::rocksdb::read_object_snapshot(store, arguments.name));
    SIBYL_TRY(storage::rocksdb::verify_object_snapshot(store, snapshot));
    fmt::print("snapshot {} is intact: {} files, {}\n", snapshot.name, snapshot.files(),
               size_text(snapshot.bytes()));
    return {};
  });
}

int clear_on_cluster(const SnapshotArguments& arguments) {
  if (arguments.all == !arguments.name.empty())
    return refuse_snapshot(exit_refused, {base::ErrorCode::invalid, "Give a snapshot's name or --all"});
  return with_storage(arguments, [&](ObjectStore& store) -> base::Status {
    std::vector<std::string> names{arguments.name};
    if (arguments.all) {
      names.clear();
      SIBYL_ASSIGN(const auto snapshots, storage::rocksdb::list_object_snapshots(store));
      for (const ObjectSnapshot& snapshot : snapshots) names.push_back(snapshot.name);
    }
    for (const std::string& name : names) {
      SIBYL_TRY(storage::rocksdb::clear_object_snapshot(store, name));
      fmt::print("cleared snapshot {}\n", name);
    }
    return {};
  });
}

int restore_on_cluster(const SnapshotArguments& arguments) {
  ClusterOptions target = arguments.place.cluster;
  target.storage = arguments.to;
  if (!arguments.to.starts_with("rados:"))
    return refuse_snapshot(
        exit_refused, base::Error(base::ErrorCode::invalid,
                                  fmt::format("'{}' is not rados:POOL or rados:POOL/NAMESPACE", arguments.to))
                          .with_hint("a snapshot of a cluster is restored as a cluster; `sibyl export` "
                                     "writes files that any server can import"));
  return with_storage(arguments, [&](ObjectStore& store) -> base::Status {
    SIBYL_ASSIGN(const ObjectSnapshot snapshot,
                 storage::rocksdb::read_object_snapshot(store, arguments.name));
    SIBYL_ASSIGN(const std::unique_ptr<ObjectStore> to, connect_to_storage(target));
    SIBYL_TRY(restore_cluster_snapshot(store, snapshot, *to, arguments.to));
    fmt::print("restored snapshot {} ({}) to {}\nstart servers with: sibyl serve --cluster {}\n",
               snapshot.name, size_text(snapshot.bytes()), arguments.to, arguments.to);
    return {};
  });
}

}  // namespace sibyl::cli
