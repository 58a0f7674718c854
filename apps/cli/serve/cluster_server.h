// A server of a cluster: it owns some of the shards of the database, and serves all of it to its clients.
//
//   join ──▶ ClusterMember: membership, shards, calls of other servers
//              │ the catalogue can be read
//              ▼
//            RunningServer: engine, console, native protocol ◀── ClusterStatements: runs statements where their partitions are
//              │
//              ▼
//            the member finishes preparing: it gets shards
//
// The member may get shards earlier, if no other server can have them. So the first server owns all shards.
// Otherwise no server could create the catalogue.
#pragma once

#include <atomic>
#include <boost/json/array.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/cluster/show.h"
#include "cli/configuration/configuration.h"
#include "cli/serve/cluster_member.h"
#include "cli/serve/cluster_name.h"
#include "cli/serve/cluster_operations.h"
#include "cli/serve/cluster_statements.h"
#include "cli/serve/running_server.h"
#include "cluster/runtime/thread_executor.h"
#include "engine/system_tables/system_tables.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

class ClusterServer {
 public:
  struct Events {  // called on any thread; they must not block, and must not destroy the server
    // Called when clients are served at this address.
    std::function<void(const std::string& address)> on_serving;
    // Called when other servers may have the shards. Nothing more can be written, and data that was read is
    // not sent any more. The process must end.
    std::function<void(const std::string& why)> on_lost;
    // Called when leave() is complete: requests in flight have been answered.
    std::function<void()> on_left;
  };
  // The functions are called until the server's destructor returns. What they use must exist until then.
  struct Options {
    Configuration configuration;
    boost::json::array settings;  // for the console
    // Connects to the cluster's storage, on any thread. Called several times, because a connection may be fenced.
    std::function<base::Result<std::unique_ptr<storage::objects::ObjectStore>>()> connect;
    Events events;
  };

  // Prepares to join the cluster. Fails with ErrorCode::config if the configuration does not allow that, and
  // otherwise if the storage does not answer, there is no cluster, or this server cannot listen or load its
  // certificates. Blocks.
  static base::Result<std::unique_ptr<ClusterServer>> prepare(Options options);
  // Joins. REQUIRES: called once, and before leave().
  void join();
  // Stops without leaving: other servers take over when the lease has expired.
  ~ClusterServer();
  ClusterServer(const ClusterServer&) = delete;
  ClusterServer& operator=(const ClusterServer&) = delete;

  // --- Thread-safe.

  // Hands the shards over and leaves the cluster. on_left or on_lost follows.
  void leave();
  // Reloads certificates, if this server serves. Logs errors.
  void reload_tls();
  const std::string& name() const { return name_.unique(); }
  // The address at which clients will find this server.
  const std::string& address() const { return address_; }
  // The number of shards that this server has open.
  size_t open_shards() const;

 private:
  ClusterServer(Options options, ServerName name, std::string host, cluster::Settings settings);
  void begin();
  base::Result<std::unique_ptr<ClusterMember>> make_member();
  void on_removed();
  void on_free();
  void lose(const std::string& why);
  void follow(const cluster::State& state);

  void serve();
  Configuration configuration_for_cluster();
  base::Status on_open(engine::Engine& engine);
  void on_close();
  void receive(cluster::PeerService::Call call, cluster::PeerService::Answer answer);
  void show_nodes();

  const Options options_;
  const ServerName name_;
  const std::string host_;     // numeric, for clients and other servers
  const std::string address_;  // the address for clients, with the port
  const cluster::Settings settings_;
  std::atomic<bool> has_joined_ = false, is_stopping_ = false;

  mutable base::Mutex mutex_;
  std::vector<engine::ClusterNode> nodes_ SIBYL_GUARDED_BY(mutex_);  // with this one
  bool is_leaving_ SIBYL_GUARDED_BY(mutex_) = false;
  // Is replaced only before the server has joined.
  std::shared_ptr<ClusterMember> member_ SIBYL_GUARDED_BY(mutex_);

  // Announcements of other servers go to the engine, and are kept until it is open.
  base::Mutex announcements_mutex_;
  engine::Engine* engine_ SIBYL_GUARDED_BY(announcements_mutex_) = nullptr;
  std::vector<base::Bytes> announcements_ SIBYL_GUARDED_BY(announcements_mutex_);

  // Used by jobs_ only, and by the console of running_.
  std::unique_ptr<ClusterObserver> observer_;  // uses member_

  // Used by jobs_ only.
  std::unique_ptr<RunningServer> running_;
  std::unique_ptr<ClusterStatements> statements_;
  std::unique_ptr<ClusterOperations> operations_;
  std::vector<engine::ClusterNode> shown_;  // the nodes that clients know
  bool has_drained_ = false;                // leaving: no client is served any more
  cluster::ThreadExecutor jobs_;
};

}  // namespace sibyl::cli
