// Runs statements where their partitions are: here, or at another server of the cluster.
//
//  1. A statement whose partitions are in one shard, or in shards of one owner, runs whole at that owner. It
//     holds ShardedStore::use() there from before its first read until it has committed. Views in other
//     shards may be renewed after that, before the client is answered.
//  2. A receiver that does not own a shard at the epoch of the request, or has another schema, answers so
//     before it executes anything. The statement is then sent again. At its deadline, the error is
//     Unavailable.
//  3. If the outcome of a write is unknown, the client gets WriteTimeout: nothing is executed twice. Reads
//     are sent again.
//  4. Definitions and statements about roles run at the owner of the meta shard.
//  5. Statements that may read any shard run here, on the store over the shards of all servers.
//  6. Writes to shards of several owners run here as well: the engine passes each owner its part. A batch of
//     counters becomes one batch for each shard.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "engine/executor.h"
#include "forwarding/forwarded_statement.h"

namespace sibyl::forwarding {

class ForwardingExecutor final : public engine::Executor {
 public:
  using Parts = ForwardingParts;
  explicit ForwardingExecutor(Parts parts) : of_(std::move(parts)) {}

  void execute_as(const auth::Login* login, plan::PreparedPtr plan, const execute::Request& request,
                  execute::Completion done) override;
  void execute_relayed(const base::Bytes& host_id, const auth::Login* login, plan::PreparedPtr plan,
                       const execute::Request& request, execute::Completion done) override;
  void execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                        std::vector<execute::BatchItem> items, const execute::Request& request,
                        execute::Completion done) override;
  std::optional<Routed> routed() const override {
    return Routed{of_.counts->forwarded.load(std::memory_order_relaxed),
                  of_.counts->spread.load(std::memory_order_relaxed)};
  }
  std::chrono::microseconds sync_time() const override { return of_.here.sync_time(); }

 private:
  const Parts of_;
};

}  // namespace sibyl::forwarding
