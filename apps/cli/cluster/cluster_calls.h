// Commands of operators to the servers of a cluster, which execute them (cli/serve/cluster_operations.h).
//
// The program finds the servers in the state of the cluster, and proves to them that it can read that state.
// So every user who can read the cluster's storage can use these commands.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "cluster/state.h"
#include "cluster/transport/peer_network.h"
#include "server/http/control.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

class ClusterCalls {
 public:
  static base::Result<std::unique_ptr<ClusterCalls>> connect(const ClusterOptions& options);
  static base::Result<std::unique_ptr<ClusterCalls>> over(
      std::unique_ptr<storage::objects::ObjectStore> storage);
  ClusterCalls(const ClusterCalls&) = delete;
  ClusterCalls& operator=(const ClusterCalls&) = delete;

  storage::objects::ObjectStore& storage() { return *storage_; }
  // Reads the state. The servers in it can be called afterwards.
  base::Result<cluster::State> read_state();

  // Runs a command at a member of the last state. Returns its result as JSON. The error is
  // ErrorCode::unavailable if the server was not reached: it has not executed the command. It is
  // ErrorCode::write_timeout if it may have. Blocks.
  base::Result<std::string> call(const cluster::MemberId& member, const std::string& command,
                                 const server::ControlArguments& arguments, std::chrono::seconds timeout);
  // Runs commands at several members at the same time.
  std::map<cluster::MemberId, base::Result<std::string>> call_all(
      const std::map<cluster::MemberId, server::ControlArguments>& calls, const std::string& command,
      std::chrono::seconds timeout);

  // Runs a command for each shard, at the owner of the shard. Answers have the form described in
  // cluster_operations.h. Follows shards that move, and repeats calls that were not answered. Fails if no
  // owner of the remaining shards answers for a minute.
  base::Status run_on_shards(const std::string& command, const server::ControlArguments& arguments);

 private:
  explicit ClusterCalls(std::unique_ptr<storage::objects::ObjectStore> storage)
      : storage_(std::move(storage)) {}
  base::Status open();
  cluster::PeerNetwork& network_of(const cluster::MemberId& member);
  base::Result<std::set<uint32_t>> run_round(const std::set<uint32_t>& shards, const std::string& command,
                                             const server::ControlArguments& arguments,
                                             std::string& obstacle);

  std::unique_ptr<storage::objects::ObjectStore> storage_;
  // Both are needed, because the state does not tell whether servers encrypt.
  std::unique_ptr<cluster::PeerNetwork> encrypted_, plain_;
  cluster::PeerNetwork* used_ = nullptr;  // nullptr: not known yet
};

// The members that serve.
std::set<cluster::MemberId> serving_members(const cluster::State& state);
base::Error no_server_runs();

}  // namespace sibyl::cli
