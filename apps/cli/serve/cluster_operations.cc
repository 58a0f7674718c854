#include "cli/serve/cluster_operations.h"

#include <boost/json.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/maintenance/compact.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;
using server::ControlArguments;

// Compactions may run for hours, while other commands must be answered.
constexpr size_t operation_threads = 8;

std::string argument(const ControlArguments& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? std::string() : found->second;
}

// Runs the task for each of the named shards. Returns the shards that are not open here.
base::Result<std::string> on_shards(const ControlArguments& arguments,
                                    const std::function<base::Status(uint32_t shard)>& task) {
  json::array moved;
  const std::string text = argument(arguments, "shards");
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    uint32_t shard = 0;
    const auto parsed = std::from_chars(at, end, shard);
    if (parsed.ec != std::errc() || (parsed.ptr != end && *parsed.ptr != ','))
      return base::fail(base::ErrorCode::protocol, "The numbers of the shards cannot be read");
    at = parsed.ptr;
    const base::Status done = task(shard);
    if (!done && !storage::is_not_here(done.error())) return base::fail(done.error());
    if (!done) moved.push_back(shard);
  }
  return json::serialize(json::object{{"moved", std::move(moved)}});
}

base::Status compact_shard(storage::ShardedStore& shards, uint32_t shard, engine::Engine& engine,
                           const std::string& table) {
  SIBYL_ASSIGN(const auto ranges, engine::compaction_ranges(*engine.schema(), table));
  for (const auto& [begin, end] : ranges) SIBYL_TRY(shards.compact_shard(shard, begin, end));
  return {};
}

void add_storage(ClusterMember& member, json::object& status) {
  const storage::ShardedStore::LogState log = member.shards().log_state();
  status["log"] = {{"name", log.name}, {"bytes", log.bytes}, {"shards", log.shards}};
  json::array& shards = status["shards"].emplace_array();
  for (uint32_t shard = 0; shard < member.shard_map().count(); ++shard) {
    const auto epoch = member.shards().open_epoch(shard);
    const auto found = member.shards().shard_statistics(shard);
    if (!epoch || !found) continue;
    shards.push_back({{"shard", shard},
                      {"epoch", *epoch},
                      {"disk_bytes", found->bytes_on_disk},
                      {"files", found->files},
                      {"memtable_bytes", found->memtable_bytes},
                      {"running_compactions", found->running_compactions},
                      {"pending_compaction_bytes", found->pending_compaction_bytes}});
  }
}

}  // namespace

ClusterOperations::ClusterOperations(ClusterMember& member, engine::Engine& engine, server::Server& server)
    : member_(member), engine_(engine), checkpoint_(member, engine) {
  add_snapshot_commands();
  control_.add("flush", [this](const ControlArguments& arguments) {
    return on_shards(arguments, [this](uint32_t shard) { return member_.shards().flush_shard(shard); });
  });
  control_.add("compact", [this](const ControlArguments& arguments) {
    const std::string table = argument(arguments, "table");
    return on_shards(arguments,
                     [&](uint32_t shard) { return compact_shard(member_.shards(), shard, engine_, table); });
  });
  control_.add("status", [this, &server](const ControlArguments&) -> base::Result<std::string> {
    json::object status = json::parse(server.status()).as_object();
    add_storage(member_, status);
    return json::serialize(status);
  });
  member_.network().handle(
      cluster::Method::operate,
      [this](cluster::PeerService::Call call, cluster::PeerService::Answer answer) {
        answer(control_.answer(call.message));
      },
      operation_threads);
}

void ClusterOperations::add_snapshot_commands() {
  control_.add("snapshot stop", [this](const ControlArguments& arguments) -> base::Result<std::string> {
    SIBYL_TRY(checkpoint_.stop(argument(arguments, "id")));
    return std::string("{}");
  });
  control_.add("snapshot cut", [this](const ControlArguments& arguments) -> base::Result<std::string> {
    SIBYL_ASSIGN(const json::object cut, checkpoint_.cut(argument(arguments, "id")));
    return json::serialize(cut);
  });
  control_.add("snapshot link", [this](const ControlArguments& arguments) -> base::Result<std::string> {
    SIBYL_ASSIGN(const json::object linked,
                 checkpoint_.link(argument(arguments, "id"), argument(arguments, "name")));
    return json::serialize(linked);
  });
  control_.add("snapshot drop", [this](const ControlArguments& arguments) -> base::Result<std::string> {
    checkpoint_.drop(argument(arguments, "id"));
    return std::string("{}");
  });
}

ClusterOperations::~ClusterOperations() {
  member_.shards().stop_compacting();
  member_.network().handle(cluster::Method::operate, {}, 0);
}

}  // namespace sibyl::cli
