// Runs the statements that other servers send to this one, because it owns their partitions.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "cluster/peers.h"
#include "engine/authenticator.h"
#include "engine/executor.h"
#include "engine/planner.h"
#include "engine/schema_source.h"
#include "forwarding/statement_messages.h"
#include "forwarding/task_pool.h"
#include "storage/sharded_store.h"

namespace sibyl::forwarding {

// Thread-safe.
class StatementService {
 public:
  // Borrowed.
  struct Parts {
    engine::Executor& here;  // not a ForwardingExecutor
    engine::Planner& planner;
    engine::SchemaSource& schema;
    engine::Authenticator& authenticator;
    storage::ShardedStore& shards;
    TaskPool& pool;
    std::function<base::Status()> reload;
  };
  explicit StatementService(Parts parts) : of_(std::move(parts)) {}

  // For cluster::Method::execute, without threads: short writes run at once, everything else in the pool.
  cluster::PeerService::Handler statements();
  // For cluster::Method::define, with threads.
  cluster::PeerService::Handler definitions();

 private:
  class Running;

  const Parts of_;
};

}  // namespace sibyl::forwarding
