#include "cli/serve/cluster_statements.h"

namespace sibyl::cli {
namespace {

constexpr size_t pool_threads = 8, max_waiting_statements = 16'384, definition_threads = 4,
                 commit_threads = 8;

}  // namespace

ClusterStatements::ClusterStatements(ClusterMember& member, engine::Engine& engine)
    : member_(member),
      pool_(pool_threads, max_waiting_statements),
      executor_({.here = engine.local_executor(),
                 .planner = engine.planner(),
                 .schema = engine.schema_source(),
                 .clock = engine.clock(),
                 .shards = member.shards(),
                 .routing = member.routing(),
                 .peers = member.network(),
                 .pool = pool_,
                 .timers = member.timers(),
                 .shard_of = [&map = member.shard_map()](int64_t token) { return map.shard_of_token(token); },
                 .reload = [&engine] { return engine.reload(); }}) {
  service_ = std::make_unique<forwarding::StatementService>(
      forwarding::StatementService::Parts{.here = engine.local_executor(),
                                          .planner = engine.planner(),
                                          .schema = engine.schema_source(),
                                          .authenticator = engine.authenticator(),
                                          .shards = member.shards(),
                                          .pool = pool_,
                                          .reload = [&engine] { return engine.reload(); }});
  engine.set_executor(executor_);
  member_.network().handle(cluster::Method::execute, service_->statements(), 0);
  member_.network().handle(cluster::Method::define, service_->definitions(), definition_threads);
  member_.network().handle(
      cluster::Method::commit,
      member_.owner_calls().handler([&engine](base::BytesView message) { return engine.apply(message); }),
      commit_threads);
}

ClusterStatements::~ClusterStatements() {
  member_.network().handle(cluster::Method::execute, {}, 0);
  member_.network().handle(cluster::Method::define, {}, 0);
  member_.network().handle(cluster::Method::commit, {}, 0);
  service_.reset();  // destroyed before the pool, which runs the waiting tasks
}

}  // namespace sibyl::cli
