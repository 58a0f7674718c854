// One run of this server as a member of its cluster: its connections to the storage and to other servers, its
// membership, and the shards that it owns.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/hosting/store_shard_host.h"
#include "cluster/routed/owner_calls.h"
#include "cluster/routed/store_service.h"
#include "cluster/runtime/server_member.h"
#include "cluster/runtime/state_routing.h"
#include "cluster/runtime/thread_executor.h"
#include "cluster/transport/peer_network.h"
#include "engine/options.h"
#include "storage/objects/object_store.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::cli {

class ClusterMember {
 public:
  struct Options {
    std::function<base::Result<std::unique_ptr<storage::objects::ObjectStore>>()> connect;
    cluster::Settings settings;           // of the cluster
    cluster::Membership::Options member;  // without peer_address
    std::string peer_host;                // numeric address at which other servers call this one
    std::string listen_host;              // numeric address at which it listens for them
    uint16_t listen_port = 0;             // 0: any
    bool is_encrypted = false;
    engine::Options engine;  // caches and memory
    // Called on any thread. They must not block.
    std::function<void(const cluster::State&)> on_state;
    std::function<void()> on_removed, on_free, on_left;
    std::function<void(const std::string& why)> on_lost;
  };

  // Connects to the storage and listens for other servers. Blocks.
  static base::Result<std::unique_ptr<ClusterMember>> create(Options options);
  // Stops without leaving. REQUIRES: only other servers still use the shards.
  ~ClusterMember();
  ClusterMember(const ClusterMember&) = delete;
  ClusterMember& operator=(const ClusterMember&) = delete;

  // Joins. REQUIRES: called once.
  void start() { member_->start(); }

  // --- Thread-safe.

  cluster::ServerMember& member() { return *member_; }
  storage::ShardedStore& shards() { return *shards_; }
  const storage::TokenShards& shard_map() const { return *shard_map_; }
  cluster::Routing& routing() { return *routing_; }
  cluster::PeerNetwork& network() { return *network_; }
  cluster::OwnerCalls& owner_calls() { return *owner_calls_; }
  base::Executor& timers() { return timers_; }
  // The storage of the cluster, over the connection of the shards.
  storage::objects::ObjectStore& objects() { return *objects_; }
  uint64_t incarnation() const { return options_.member.incarnation; }
  // The store over the shards of all servers. It must not outlive the member.
  std::unique_ptr<storage::Store> make_store();
  // Passes the message to all members, and returns when each has received it or has left the cluster. A
  // member leaves at the latest when its lease has expired. Blocks.
  base::Status announce(const base::Bytes& message);

 private:
  explicit ClusterMember(Options options) : options_(std::move(options)) {}
  base::Status open();

  const Options options_;
  cluster::ThreadExecutor timers_;
  // Separate from the member's connection, because a server that takes a shard over fences the connection
  // with which the former owner used it.
  std::unique_ptr<storage::objects::ObjectStore> objects_;
  std::shared_ptr<const storage::TokenShards> shard_map_;
  std::unique_ptr<storage::ShardedStore> shards_;
  std::unique_ptr<cluster::PeerNetwork> network_;
  std::unique_ptr<cluster::StateRouting> routing_;
  std::unique_ptr<cluster::StoreService> service_;
  std::unique_ptr<cluster::OwnerCalls> owner_calls_;
  std::unique_ptr<cluster::StoreShardHost> host_;
  std::unique_ptr<cluster::ServerMember> member_;
};

}  // namespace sibyl::cli
