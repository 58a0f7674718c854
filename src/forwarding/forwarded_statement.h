// One statement or batch, until it has its result. Internal to ForwardingExecutor.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "cluster/peers.h"
#include "cluster/routing.h"
#include "engine/executor.h"
#include "engine/planner.h"
#include "engine/schema_source.h"
#include "forwarding/statement_messages.h"
#include "forwarding/targets.h"
#include "forwarding/task_pool.h"
#include "storage/sharded_store.h"

namespace sibyl::forwarding {

// Counts each statement once, however often it is sent. Thread-safe.
struct RoutedCounts {
  std::atomic<uint64_t> forwarded = 0, spread = 0;
};

// Borrowed by ForwardingExecutor.
struct ForwardingParts {
  engine::Executor& here;
  engine::Planner& planner;
  engine::SchemaSource& schema;
  base::Clock& clock;
  storage::ShardedStore& shards;
  cluster::Routing& routing;
  cluster::Peers& peers;
  TaskPool& pool;
  base::Executor& timers;  // run_after() must be thread-safe
  ShardOfToken shard_of;
  // Uses the newest schema, which another server may have changed. Blocks.
  std::function<base::Status()> reload;
  std::chrono::milliseconds patience{10'000}, definition_patience{120'000};
  std::shared_ptr<RoutedCounts> counts = std::make_shared<RoutedCounts>();
};

class ForwardedStatement final : public std::enable_shared_from_this<ForwardedStatement> {
 public:
  // `parts` must outlive the statement.
  ForwardedStatement(const ForwardingParts& parts, const auth::Login* login, plan::PreparedPtr plan,
                     const execute::Request& request, execute::Completion done);
  ForwardedStatement(const ForwardingParts& parts, const auth::Login* login, cql::Batch::Kind kind,
                     std::vector<execute::BatchItem> items, const execute::Request& request,
                     execute::Completion done);

  // Runs it here or sends it to its owner. Completes it now or later, on any thread.
  void run();

 private:
  using Shards = std::vector<StatementRequest::Shard>;
  // The server that owns all shards of the target.
  struct Owner {
    enum class Kind : uint8_t { one, several, none };
    Kind kind = Kind::none;
    cluster::ShardOwner owner;
    Shards shards;
  };

  bool is_read() const { return plan_ && plan_->profile.is_read(); }
  bool is_definition() const { return target_.kind == Target::Kind::define; }
  void find_target();
  Owner find_owner() const;
  void count(std::atomic<uint64_t>& counter) {
    if (!std::exchange(is_counted_, true)) counter.fetch_add(1, std::memory_order_relaxed);
  }
  void finish(base::Result<execute::ResultSet> result);

  void run_here(const Shards& shards);
  void give_to_engine(execute::Completion done, execute::WriteProgress* progress = nullptr);
  void ran_here(base::Result<execute::ResultSet> result);
  void run_spread();
  void split();

  void send(const Owner& to);
  StatementRequest make_request(const Shards& shards, const schema::Snapshot& schema) const;
  bool is_planned_for(const schema::Snapshot& schema) const;
  void receive(const std::string& from, cluster::CallResult called);

  void retry(std::string obstacle);
  void run_later(int64_t micros, std::move_only_function<void()> task);
  void run_again();
  void reload_and_retry();
  base::Status plan_again();
  void end_as_unknown(const std::string& why);

  const ForwardingParts& of_;
  const auth::Login* const login_;
  // Either a plan, or a batch.
  plan::PreparedPtr plan_;
  std::optional<cql::Batch::Kind> batch_;
  std::vector<execute::BatchItem> items_;
  execute::Request request_;
  execute::Completion done_;
  std::atomic<bool> has_finished_ = false;
  Target target_;
  cluster::Peers::Time deadline_;
  int64_t retry_micros_ = 5'000;  // the next pause
  int quick_retries_ = 0;
  bool is_counted_ = false;  // in RoutedCounts
};

}  // namespace sibyl::forwarding
