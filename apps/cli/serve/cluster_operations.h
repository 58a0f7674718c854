// Commands of operators that this server of a cluster runs. `cli/cluster/cluster_calls.h` sends them.
//
//   flush     "shards": "1,2"                      {"moved": [2]}
//   compact   "shards": "1,2", "table": "ks.t"     {"moved": []}
//   status                                         as /status, and:
//             {"log": {"name", "bytes", "shards": how many have writes that are in the log only},
//              "shards": [{"shard", "epoch", "disk_bytes", "files", "memtable_bytes", "running_compactions",
//                          "pending_compaction_bytes"}]}
//
//   snapshot stop, cut, link, drop   "id", and for link "name": see cluster_checkpoint.h
//
// Shards that are not open here are in "moved": nothing was done with them.
#pragma once

#include "cli/serve/cluster_checkpoint.h"
#include "cli/serve/cluster_member.h"
#include "engine/engine.h"
#include "server/http/control.h"
#include "server/server.h"

namespace sibyl::cli {

class ClusterOperations {
 public:
  // All arguments must outlive this object.
  ClusterOperations(ClusterMember& member, engine::Engine& engine, server::Server& server);
  // Ends compactions, and waits for the commands that run.
  ~ClusterOperations();
  ClusterOperations(const ClusterOperations&) = delete;
  ClusterOperations& operator=(const ClusterOperations&) = delete;

 private:
  void add_snapshot_commands();

  ClusterMember& member_;
  engine::Engine& engine_;
  ClusterCheckpoint checkpoint_;
  server::Control control_;  // has no socket, because requests come from the network of the cluster
};

}  // namespace sibyl::cli
