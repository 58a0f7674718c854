// A server of a cluster: a standby until the cluster makes it the owner of the database, and then its server.
//
// The database has one shard, so one server at a time has it open. The others wait. One of them takes it over when the
// owner's lease has expired, or at once when the owner leaves.
#pragma once

#include <atomic>
#include <boost/json/array.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "cli/serve/cluster_name.h"
#include "cli/serve/running_server.h"
#include "cluster/runtime/server_member.h"
#include "cluster/runtime/thread_executor.h"
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

  // Prepares to join the cluster. Fails with ErrorCode::config if the configuration does not allow that, and otherwise if the storage
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
  void lose(const std::string& why);

  const Options options_;
  const ServerName name_;
  const std::string address_;
  std::unique_ptr<storage::objects::ObjectStore> store_;  // until join()
  std::atomic<bool> is_serving_ = false;
  int failures_ = 0;  // to open the database, in a row
  std::unique_ptr<RunningServer> running_;
  // Opens, flushes and closes the database, which may take long. The only user of the two above.
  cluster::ThreadExecutor jobs_;
  std::unique_ptr<cluster::ServerMember> member_;
};

}  // namespace sibyl::cli
