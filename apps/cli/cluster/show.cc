#include "cli/cluster/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <thread>
#include <utility>

#include "cli/cluster/storage.h"
#include "cluster/state.h"
#include "storage/objects/files/directory_summary.h"
#include "storage/rocksdb/shared/log_summary.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;

// Waits until the renewals of all members have changed. Returns the last state, and whose have.
base::Result<std::map<std::string, bool>> observe_renewals(storage::objects::ObjectStore& store,
                                                           cluster::State& state) {
  constexpr std::chrono::milliseconds pause{100};
  const std::map<std::string, cluster::Member> first = state.members;
  const auto deadline = std::chrono::steady_clock::now() + state.settings.lease / 2;
  for (;;) {
    std::map<std::string, bool> renewed;
    for (const auto& [name, member] : state.members) {
      const auto before = first.find(name);
      renewed[name] = before == first.end() || before->second != member;
    }
    const bool all = std::ranges::all_of(renewed, [](const auto& one) { return one.second; });
    if (all || std::chrono::steady_clock::now() > deadline) return renewed;
    std::this_thread::sleep_for(pause);
    SIBYL_ASSIGN(state, read_cluster_state(store));
  }
}

const char* state_of(const cluster::State& state, const std::string& name, const cluster::Member& member) {
  const cluster::MemberId id{name, member.incarnation};
  const auto owned = [&](const cluster::Shard& shard) { return shard.owner == id; };
  if (member.is_leaving) return "leaving";
  if (member.is_preparing) return "joining";
  if (std::ranges::none_of(state.shards, owned)) return "standby";
  const auto opens = [&](const cluster::Shard& shard) { return owned(shard) && !shard.logs.empty(); };
  return std::ranges::any_of(state.shards, opens) ? "opening" : "serving";
}

int64_t shards_of(const cluster::State& state, const std::string& name, const cluster::Member& member) {
  const cluster::MemberId id{name, member.incarnation};
  return std::ranges::count_if(state.shards, [&](const cluster::Shard& shard) { return shard.owner == id; });
}

std::string text_of(const json::object& object, const char* name) {
  return std::string(object.at(name).as_string());
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

base::Result<json::object> cluster_status(storage::objects::ObjectStore& store, const std::string& storage) {
  SIBYL_ASSIGN(cluster::State state, read_cluster_state(store));
  SIBYL_ASSIGN(const auto renewed, observe_renewals(store, state));
  const storage::objects::Space space = storage::objects::Blocking(store).space();
  json::object status{{"storage", storage},
                      {"lease_ms", state.settings.lease.count()},
                      {"total_bytes", space.total},
                      {"used_bytes", space.used}};
  json::array servers, shards;
  for (const auto& [name, member] : state.members) {
    SIBYL_ASSIGN(
        const storage::rocksdb::LogSummary log,
        storage::rocksdb::summarise_log(store, to_string(cluster::MemberId{name, member.incarnation})));
    servers.push_back({{"name", name},
                       {"address", member.address},
                       {"data_center", member.data_center},
                       {"rack", member.rack},
                       {"version", member.version},
                       {"state", state_of(state, name, member)},
                       {"shards", shards_of(state, name, member)},
                       {"is_leader", state.leader == cluster::MemberId{name, member.incarnation}},
                       {"renews", renewed.at(name)},
                       {"log",
                        {{"first_segment", log.first_segment},
                         {"last_segment", log.last_segment},
                         {"bytes", log.bytes},
                         {"sequence", log.sequence}}}});
  }
  for (uint32_t number = 0; number < state.shards.size(); ++number) {
    const cluster::Shard& shard = state.shards[number];
    SIBYL_ASSIGN(const auto directory,
                 storage::objects::summarise_directory(store, cluster::shard_directory(number)));
    shards.push_back({{"shard", number},
                      {"epoch", shard.epoch},
                      {"owner", shard.owner.name},
                      {"next", shard.next},
                      {"logs_to_replay", shard.logs.size()},
                      {"bytes", directory.bytes},
                      {"files", directory.files},
                      {"trash", directory.trash}});
  }
  status["servers"] = std::move(servers);
  status["shards"] = std::move(shards);
  return status;
}

std::string cluster_status_text(const json::object& status) {
  std::string out = fmt::format("{}: leases of {} ms; {} of {} used\n\n", text_of(status, "storage"),
                                status.at("lease_ms").to_number<int64_t>(),
                                bytes_text(status.at("used_bytes").to_number<double>()),
                                bytes_text(status.at("total_bytes").to_number<double>()));
  out += fmt::format("{:<28} {:<22} {:<12} {:<8} {:<8} {:<8} {:>6} {:>10} {:>10} {}\n", "server", "address",
                     "data center", "rack", "version", "state", "shards", "log", "position", "lease");
  for (const json::value& entry : status.at("servers").as_array()) {
    const json::object& server = entry.as_object();
    out += fmt::format("{:<28} {:<22} {:<12} {:<8} {:<8} {:<8} {:>6} {:>10} {:>10} {}{}\n",
                       text_of(server, "name"), text_of(server, "address"), text_of(server, "data_center"),
                       text_of(server, "rack"), text_of(server, "version"), text_of(server, "state"),
                       server.at("shards").to_number<int64_t>(),
                       bytes_text(server.at("log").at("bytes").to_number<double>()),
                       server.at("log").at("sequence").to_number<int64_t>(),
                       server.at("renews").as_bool() ? "renewed" : "not renewed",
                       server.at("is_leader").as_bool() ? ", leader" : "");
  }
  if (status.at("servers").as_array().empty()) out += "(no server runs)\n";
  out +=
      fmt::format("\n{:>5} {:>6} {:>12} {:>7} {:<28} {}\n", "shard", "epoch", "size", "files", "owner", "");
  for (const json::value& entry : status.at("shards").as_array()) {
    const json::object& shard = entry.as_object();
    std::string note;
    if (!text_of(shard, "next").empty()) note = "moves to " + text_of(shard, "next");
    if (shard.at("logs_to_replay").to_number<int64_t>() > 0) note += note.empty() ? "recovers" : ", recovers";
    out +=
        fmt::format("{:>5} {:>6} {:>12} {:>7} {:<28} {}\n", shard.at("shard").to_number<int64_t>(),
                    shard.at("epoch").to_number<int64_t>(), bytes_text(shard.at("bytes").to_number<double>()),
                    shard.at("files").to_number<int64_t>(),
                    text_of(shard, "owner").empty() ? "(none)" : text_of(shard, "owner"), note);
  }
  return out;
}

}  // namespace sibyl::cli
