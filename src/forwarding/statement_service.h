// Runs the statements that other servers send to this one, because it owns their partitions.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "base/mutex.h"
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
  // Waits for statements that run. REQUIRES: the handlers are not called any more.
  ~StatementService();

  // The handler for cluster::Method::execute, without threads. Short writes run at once, and so do short
  // reads while they do not wait for the storage. Everything else runs in the pool.
  cluster::PeerService::Handler statements();
  // The handler for cluster::Method::define, with threads.
  cluster::PeerService::Handler definitions();

 private:
  class Running;

  // False while reads wait for the storage, because they would delay all calls.
  bool may_read_at_once() const;
  void note_read(std::chrono::steady_clock::duration took);
  std::shared_ptr<Running> begin(cluster::PeerService::Call call, cluster::PeerService::Answer answer);

  const Parts of_;
  // Until this time, reads run in the pool.
  std::atomic<std::chrono::steady_clock::time_point> reads_wait_until_{};
  base::Mutex mutex_;
  base::CondVar changed_;
  size_t running_ SIBYL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sibyl::forwarding
