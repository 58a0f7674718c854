// A server of a cluster: a standby until the cluster makes it the owner of the database, and then its server.
//
// The database has one shard, so one server at a time has it open. The others relay their clients' connections to it. One of
// them takes the database over when the owner's lease has expired, or at once when the owner leaves.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json/array.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "cli/serve/cluster_name.h"
#include "cli/serve/running_server.h"
#include "cluster/runtime/server_member.h"
#include "cluster/runtime/thread_executor.h"
#include "engine/system_tables/system_tables.h"
#include "server/relay/relay.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

class ClusterServer final : public cluster::ShardHost {
 public:
  struct Events {  // called on any thread; they must not block, and must not destroy the server
    // Clients are served at this address from now on.
    std::function<void(const std::string& address)> on_serving;
    // The database may belong to another server now, or cannot be opened here. Nothing more can be written, and what was
    // read is not answered any more. The process must end.
    std::function<void(const std::string& why)> on_lost;
    // The end of leave().
    std::function<void()> on_left;
  };
  struct Options {
    Configuration configuration;
    boost::json::array settings;  // for the console
    // Connects to the cluster's storage. Called several times, because a connection may be fenced.
    std::function<base::Result<std::unique_ptr<storage::objects::ObjectStore>>()> connect;
    Events events;
  };

  // Prepares to join the cluster, and listens: clients that connect wait until the owner is known. Fails with ErrorCode::config if the configuration does not allow that, and otherwise if the storage
  // does not answer, there is no cluster, or this server could not listen or load its certificates as the owner. Blocks.
  static base::Result<std::unique_ptr<ClusterServer>> prepare(Options options);
  // Joins. REQUIRES: called once, and before leave().
  void join();
  // Stops without leaving: another server takes over when the lease has expired.
  ~ClusterServer() override;
  ClusterServer(const ClusterServer&) = delete;
  ClusterServer& operator=(const ClusterServer&) = delete;

  // --- Thread-safe.

  // Hands the database over and leaves the cluster. on_left or on_lost follows.
  void leave();
  // Reloads certificates, if this server serves. Logs what fails.
  void reload_tls();
  const std::string& name() const { return name_.unique(); }
  // The address at which clients will find this server.
  const std::string& address() const { return address_; }

  // --- ShardHost, called on the member's thread.

  void open(uint32_t shard, uint64_t epoch, const std::vector<cluster::LogPart>& logs, Done done) override;
  void flush(uint32_t shard, Done done) override;
  void close(uint32_t shard, Done done) override;
  void drop(uint32_t shard) override;

 private:
  ClusterServer(Options options, ServerName name, std::string address,
                std::unique_ptr<storage::objects::ObjectStore> store);
  base::Status open_now(uint32_t shard);
  Configuration configuration_for(uint32_t shard);
  void start_member(std::unique_ptr<storage::objects::ObjectStore> store);
  void on_removed();
  void join_again();
  void lose(const std::string& why);
  void start_relay();
  void follow(const cluster::State& state);
  void show_nodes();
  bool is_server(const std::string& address);

  const Options options_;
  const ServerName name_;
  const std::string address_;
  std::unique_ptr<storage::objects::ObjectStore> store_;  // until join()
  std::atomic<bool> has_joined_ = false, is_serving_ = false;
  // What this server knows of the others. Guarded by mutex_.
  base::Mutex mutex_;
  std::vector<engine::ClusterNode> nodes_ SIBYL_GUARDED_BY(mutex_);  // with this one
  std::optional<boost::asio::ip::tcp::endpoint> owner_ SIBYL_GUARDED_BY(mutex_);
  bool is_leaving_ SIBYL_GUARDED_BY(mutex_) = false;

  int failures_ = 0;                        // to open the database, in a row
  std::unique_ptr<server::Relay> relay_;    // while this server stands by
  std::unique_ptr<RunningServer> running_;  // while it serves
  std::vector<engine::ClusterNode> shown_;  // those that clients know
  // Opens, flushes and closes the database, which may take long. The only user of the four above.
  cluster::ThreadExecutor jobs_;
  // Replaced by a job, with mutex_, and only before it has joined.
  std::unique_ptr<cluster::ServerMember> member_;
};

}  // namespace sibyl::cli
