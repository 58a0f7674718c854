#include "cli/cluster/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "cli/cluster/storage.h"
#include "cluster/state.h"
#include "engine/catalogue/server_logs.h"
#include "storage/objects/files/directory_summary.h"
#include "storage/shard_map.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;
using storage::objects::DirectorySummary;

// Waits until all members have renewed their leases. Returns for each member whether it has. Sets `state` to
// the last state.
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

using Logs = std::map<cluster::MemberId, storage::LogSummary>;

base::Result<Logs> logs_of(storage::objects::ObjectStore& store, const cluster::State& state) {
  Logs logs;
  for (const cluster::MemberId& id : state.logs) {
    SIBYL_ASSIGN(logs[id], engine::summarise_server_log(store, to_string(id)));
  }
  return logs;
}

json::object log_json(const storage::LogSummary& log) {
  return {{"is_sealed", log.is_sealed},
          {"first_segment", log.first_segment},
          {"last_segment", log.last_segment},
          {"sequence", log.last_record},
          {"bytes", log.bytes}};
}

json::array logs_json(const cluster::State& state, const Logs& logs) {
  json::array all;
  for (const auto& [id, log] : logs) {
    json::object one = log_json(log);
    one["log"] = to_string(id);
    one["server"] = state.is_member(id) ? id.name : "";
    all.push_back(std::move(one));
  }
  return all;
}

// Returns the status without shards. `add` adds what is known about a server's lease to its entry.
json::object status_json(const std::string& storage, const cluster::State& state,
                         const storage::objects::Space& space, const Logs& logs,
                         const std::function<void(const std::string& name, json::object& server)>& add) {
  json::array servers;
  for (const auto& [name, member] : state.members) {
    const cluster::MemberId id{name, member.incarnation};
    const auto log = logs.find(id);
    json::object server{{"name", name},
                        {"address", member.address},
                        {"data_center", member.data_center},
                        {"rack", member.rack},
                        {"version", member.version},
                        {"state", state_of(state, name, member)},
                        {"shards", shards_of(state, name, member)},
                        {"is_leader", state.leader == id},
                        {"log", log_json(log == logs.end() ? storage::LogSummary() : log->second)}};
    add(name, server);
    servers.push_back(std::move(server));
  }
  return {{"storage", storage},
          {"lease_ms", state.settings.lease.count()},
          {"total_bytes", space.total},
          {"used_bytes", space.used},
          {"servers", std::move(servers)},
          {"logs", logs_json(state, logs)}};
}

base::Result<std::vector<DirectorySummary>> sizes_of_shards(storage::objects::ObjectStore& store,
                                                            const cluster::State& state) {
  std::vector<DirectorySummary> sizes;
  for (uint32_t number = 0; number < state.shards.size(); ++number) {
    SIBYL_ASSIGN(sizes.emplace_back(),
                 storage::objects::summarise_directory(store, cluster::shard_directory(number)));
  }
  return sizes;
}

json::array shards_json(const cluster::State& state, const std::vector<DirectorySummary>& sizes) {
  const storage::TokenShards map(static_cast<uint32_t>(state.shards.size()));
  json::array shards;
  for (uint32_t number = 0; number < state.shards.size(); ++number) {
    const cluster::Shard& shard = state.shards[number];
    const storage::TokenSpan tokens = map.tokens_of(number);
    const bool has_tokens = number > 0 || state.shards.size() == 1;
    shards.push_back({{"shard", number},
                      {"first_token", has_tokens ? std::to_string(tokens.first) : ""},
                      {"last_token", has_tokens ? std::to_string(tokens.last) : ""},
                      {"epoch", shard.epoch},
                      {"owner", shard.owner.name},
                      {"next", shard.next},
                      {"logs_to_replay", shard.logs.size()},
                      {"bytes", sizes[number].bytes},
                      {"files", sizes[number].files},
                      {"trash", sizes[number].trash}});
  }
  return shards;
}

}  // namespace

base::Result<json::object> cluster_status(storage::objects::ObjectStore& store, const std::string& storage) {
  SIBYL_ASSIGN(cluster::State state, read_cluster_state(store));
  SIBYL_ASSIGN(const auto renewed, observe_renewals(store, state));
  SIBYL_ASSIGN(const auto sizes, sizes_of_shards(store, state));
  SIBYL_ASSIGN(const Logs logs, logs_of(store, state));
  json::object status = status_json(
      storage, state, storage::objects::Blocking(store).space(), logs,
      [&](const std::string& name, json::object& server) { server["renews"] = renewed.at(name); });
  status["shards"] = shards_json(state, sizes);
  return status;
}

// --- ClusterObserver

base::Status ClusterObserver::measure(const cluster::State& state, Clock::time_point now) {
  constexpr std::chrono::seconds max_age{20};
  if (sizes_.size() == state.shards.size() && now - measured_ < max_age) return {};
  SIBYL_ASSIGN(sizes_, sizes_of_shards(store_, state));
  space_ = storage::objects::Blocking(store_).space();
  measured_ = now;
  return {};
}

base::Result<json::object> ClusterObserver::observe() {
  SIBYL_ASSIGN(const cluster::State state, read_cluster_state(store_));
  SIBYL_ASSIGN(const Logs logs, logs_of(store_, state));
  const Clock::time_point now = Clock::now();
  const base::MutexLock lock(mutex_);
  std::erase_if(seen_, [&](const auto& one) { return !state.members.contains(one.first); });
  for (const auto& [name, member] : state.members)
    if (Seen& seen = seen_[name]; seen.member != member) seen = {member, now};
  SIBYL_TRY(measure(state, now));
  std::map<std::string, int64_t> silent;
  for (const auto& [name, seen] : seen_)
    silent[name] = std::chrono::duration_cast<std::chrono::milliseconds>(now - seen.since).count();
  json::object status = status_json(
      storage_, state, space_, logs,
      [&](const std::string& name, json::object& server) { server["silent_ms"] = silent.at(name); });
  status["own"] = own_;
  status["shards"] = shards_json(state, sizes_);
  return status;
}

// --- As text

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

namespace {

void print_logs(const json::array& logs, std::string& out) {
  out += fmt::format("\n{:<36} {:>10} {:>17} {:>12} {}\n", "log", "record", "segments", "size", "");
  for (const json::value& entry : logs) {
    const json::object& log = entry.as_object();
    const auto last = log.at("last_segment").to_number<uint64_t>();
    out += fmt::format(
        "{:<36} {:>10} {:>17} {:>12} {}\n", text_of(log, "log"), log.at("sequence").to_number<uint64_t>(),
        last == 0 ? "none" : fmt::format("{} to {}", log.at("first_segment").to_number<uint64_t>(), last),
        bytes_text(log.at("bytes").to_number<double>()), log.at("is_sealed").as_bool() ? "sealed" : "");
  }
}

}  // namespace

std::string cluster_status_text(const json::object& status) {
  std::string out = fmt::format("{}: leases of {} ms; {} of {} used\n\n", text_of(status, "storage"),
                                status.at("lease_ms").to_number<int64_t>(),
                                bytes_text(status.at("used_bytes").to_number<double>()),
                                bytes_text(status.at("total_bytes").to_number<double>()));
  out += fmt::format("{:<28} {:<22} {:<12} {:<8} {:<8} {:<8} {:>6} {}\n", "server", "address", "data center",
                     "rack", "version", "state", "shards", "lease");
  for (const json::value& entry : status.at("servers").as_array()) {
    const json::object& server = entry.as_object();
    out += fmt::format("{:<28} {:<22} {:<12} {:<8} {:<8} {:<8} {:>6} {}{}\n", text_of(server, "name"),
                       text_of(server, "address"), text_of(server, "data_center"), text_of(server, "rack"),
                       text_of(server, "version"), text_of(server, "state"),
                       server.at("shards").to_number<int64_t>(),
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
  print_logs(status.at("logs").as_array(), out);
  return out;
}

}  // namespace sibyl::cli
