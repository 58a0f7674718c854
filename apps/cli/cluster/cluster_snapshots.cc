#include "cli/cluster/cluster_snapshots.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster/storage.h"
#include "cluster/transport/handshake.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;
using cluster::MemberId;
using storage::objects::ObjectStore;
using storage::rocksdb::ObjectSnapshot;

constexpr size_t secret_bytes = 32;
// These are longer than the time after which servers give up.
constexpr std::chrono::seconds stop_timeout{15}, link_timeout{3600};
constexpr std::chrono::milliseconds attempt_pause{250};
constexpr int max_attempts = 40;

std::string text_of(const json::value& value) {
  return std::string(std::string_view(value.as_string()));
}

int64_t now_millis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string name_of_time(int64_t millis) {
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03}", fmt::gmtime(static_cast<std::time_t>(millis / 1000)),
                     millis % 1000);
}

// One attempt to take a snapshot. Afterwards the servers have resumed, whatever its outcome.
class SnapshotAttempt {
 public:
  SnapshotAttempt(ClusterCalls& calls, ObjectSnapshot& snapshot, std::string id)
      : calls_(calls), snapshot_(snapshot), id_(std::move(id)) {}
  ~SnapshotAttempt() {
    if (!owners_.empty()) (void)run("snapshot drop", stop_timeout);
  }
  SnapshotAttempt(const SnapshotAttempt&) = delete;
  SnapshotAttempt& operator=(const SnapshotAttempt&) = delete;

  base::Status make() {
    SIBYL_TRY(find_owners());
    SIBYL_TRY(run("snapshot stop", stop_timeout));
    snapshot_.taken_millis = now_millis();
    SIBYL_ASSIGN(const auto cut, run("snapshot cut", stop_timeout));
    SIBYL_TRY(check_owners(cut));
    SIBYL_ASSIGN(const auto linked, run("snapshot link", link_timeout));
    for (const json::value& answer : linked) add(answer);
    owners_.clear();
    return {};
  }

 private:
  base::Status find_owners() {
    SIBYL_ASSIGN(const cluster::State state, calls_.read_state());
    snapshot_.lease_ms = state.settings.lease.count();
    snapshot_.shards.assign(state.shards.size(), {});
    if (state.members.empty()) return base::fail(no_server_runs());
    std::set<MemberId> owners;
    for (uint32_t shard = 0; shard < state.shards.size(); ++shard) {
      if (!state.is_member(state.shards[shard].owner))
        return base::fail(base::ErrorCode::unavailable, fmt::format("Shard {} has no owner", shard));
      owners.insert(state.shards[shard].owner);
    }
    owners_ = {owners.begin(), owners.end()};
    return {};
  }

  // Runs the command at all owners at the same time. Returns their answers.
  base::Result<std::vector<json::value>> run(const std::string& command, std::chrono::seconds timeout) {
    std::map<MemberId, server::ControlArguments> asked;
    for (const MemberId& owner : owners_) asked[owner] = {{"id", id_}, {"name", snapshot_.name}};
    std::vector<json::value> answers;
    for (const auto& [member, answer] : calls_.call_all(asked, command, timeout)) {
      if (!answer) return base::fail(answer.error());
      answers.push_back(json::parse(*answer));
    }
    return answers;
  }

  // A server that was slow may have cut a shard that belonged to another one by then. Epochs only increase,
  // so the owners have not changed between the cut and this state.
  base::Status check_owners(const std::vector<json::value>& cut) {
    std::map<uint32_t, uint64_t> epochs;
    for (const json::value& answer : cut)
      for (const json::value& shard : answer.at("shards").as_array())
        if (!epochs.emplace(shard.at("shard").to_number<uint32_t>(), shard.at("epoch").to_number<uint64_t>())
                 .second)
          return moved();
    SIBYL_ASSIGN(const cluster::State state, calls_.read_state());
    for (uint32_t shard = 0; shard < state.shards.size(); ++shard) {
      const auto found = epochs.find(shard);
      if (found == epochs.end() || found->second != state.shards[shard].epoch) return moved();
    }
    return {};
  }

  static base::Status moved() {
    return base::fail(base::Error(base::ErrorCode::unavailable, "Shards were moving during the snapshot")
                          .with_hint("try again when `sibyl cluster status` shows no more moves"));
  }

  void add(const json::value& answer) {
    for (const json::value& one : answer.at("shards").as_array()) {
      ObjectSnapshot::Shard& shard = snapshot_.shards[one.at("shard").to_number<size_t>()];
      shard.epoch = one.at("epoch").to_number<uint64_t>();
      for (const json::value& file : one.at("files").as_array())
        shard.files.push_back({text_of(file.at("path")), file.at("size").to_number<uint64_t>(),
                               file.at("crc32c").to_number<uint32_t>()});
    }
    snapshot_.tables.clear();
    for (const json::value& table : answer.at("tables").as_array())
      snapshot_.tables.push_back({text_of(table.at("keyspace")), text_of(table.at("name")),
                                  table.at("bytes").to_number<uint64_t>()});
  }

  ClusterCalls& calls_;
  ObjectSnapshot& snapshot_;
  const std::string id_;
  std::vector<MemberId> owners_;  // the owners of the shards; empty: nothing is to be dropped
};

base::Status make_snapshot(ClusterCalls& calls, ObjectSnapshot& snapshot) {
  for (int attempt = 1;; ++attempt) {
    // Flush first, so that little is left to be written while commits wait.
    SIBYL_TRY(calls.run_on_shards("flush", {}));
    const base::Status made =
        SnapshotAttempt(calls, snapshot, fmt::format("{}-{}", snapshot.attempt, attempt)).make();
    if (made || attempt == max_attempts) return made;
    std::this_thread::sleep_for(attempt_pause);
  }
}

}  // namespace

cluster::Settings new_settings(uint32_t shards, int64_t lease_ms) {
  return {shards, std::chrono::milliseconds(lease_ms), cluster::random_bytes(secret_bytes)};
}

base::Result<ObjectSnapshot> take_cluster_snapshot(ClusterCalls& calls, std::string name) {
  if (name.empty()) name = name_of_time(now_millis());
  SIBYL_ASSIGN(const cluster::State state, calls.read_state());
  if (state.members.empty()) return base::fail(no_server_runs());
  SIBYL_ASSIGN(ObjectSnapshot snapshot,
               storage::rocksdb::begin_object_snapshot(calls.storage(), name, state.settings.shards));
  base::Status made = make_snapshot(calls, snapshot);
  if (made) made = storage::rocksdb::finish_object_snapshot(calls.storage(), snapshot);
  if (!made) {
    (void)storage::rocksdb::clear_object_snapshot(calls.storage(), name);
    return base::fail(made.error());
  }
  snapshot.is_complete = true;
  return snapshot;
}

base::Status restore_cluster_snapshot(ObjectStore& from, const ObjectSnapshot& snapshot, ObjectStore& to,
                                      const std::string& to_name) {
  const auto existing = [&] {
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("{} has a cluster already", to_name))
            .with_hint("a snapshot is restored into another pool or namespace: rados:POOL/NAMESPACE"));
  };
  const auto found = storage::objects::Blocking(to).read(cluster::state_object, {});
  if (found.reply.is_done()) return existing();
  if (!found.reply.is_refused(storage::objects::Reason::missing))
    return base::fail(storage::objects::error_of(found.reply, "reading " + to_name));
  SIBYL_TRY(storage::rocksdb::copy_object_snapshot(from, snapshot, to, cluster::shard_directory));
  std::vector<uint64_t> epochs;
  for (const ObjectSnapshot::Shard& shard : snapshot.shards) epochs.push_back(shard.epoch);
  const auto reply = storage::objects::Blocking(to).mutate(
      cluster::state_object,
      cluster::create_state(new_settings(static_cast<uint32_t>(snapshot.shards.size()), snapshot.lease_ms),
                            epochs));
  if (reply.is_refused(storage::objects::Reason::exists)) return existing();
  if (!reply.is_done())
    return base::fail(storage::objects::error_of(reply, "creating the cluster in " + to_name));
  return {};
}

}  // namespace sibyl::cli
