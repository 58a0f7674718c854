#include "forwarding/forwarded_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/contain.h"
#include "execute/trace.h"
#include "forwarding/split_batch.h"

namespace sibyl::forwarding {

using base::ErrorCode;
using base::Result;
using execute::Completion;
using execute::Request;
using execute::ResultSet;

namespace {

// The pause between attempts doubles up to this limit, because many statements may wait for one shard.
constexpr int64_t max_retry_micros = 40'000;
// A statement with random partitions is tried again at once, because each attempt names other partitions.
constexpr int max_quick_retries = 100;

base::Error timeout_error(ErrorCode code, const Request& request, const std::string& why) {
  base::ErrorDetails details;
  details.code = code;
  details.message = "Operation timed out - received only 0 responses.";
  details.hint = why;
  details.consistency = static_cast<uint16_t>(request.consistency);
  details.received = 0;
  return base::Error(std::move(details));
}

base::Error unavailable_error(const Request& request, const std::string& why) {
  base::ErrorDetails details;
  details.code = ErrorCode::unavailable;
  details.message =
      fmt::format("Cannot achieve consistency level {}", base::consistency_name(request.consistency));
  details.hint = why + "; nothing was executed";
  details.consistency = static_cast<uint16_t>(request.consistency);
  details.received = 0;
  return base::Error(std::move(details));
}

base::Error spread_error() {
  return base::Error(ErrorCode::invalid,
                     "A statement of the batch writes partitions on several servers of the cluster")
      .with_hint("update each partition with a statement of its own");
}

// Returns true if this server may not own its shards any more. Then what it has read may be stale.
bool is_lost_lease(const base::Error& error) {
  return error.code() == ErrorCode::bootstrapping;
}

// Releases the shards once the write is committed, so that they may move while views in other shards are
// renewed.
struct HeldShards final : execute::WriteProgress {
  void committed() override { uses.clear(); }
  std::vector<std::unique_ptr<storage::ShardedStore::Use>> uses;
};

}  // namespace

ForwardedStatement::ForwardedStatement(const ForwardingParts& parts, const auth::Login* login,
                                       plan::PreparedPtr plan, const Request& request, Completion done)
    : of_(parts), login_(login), plan_(std::move(plan)), request_(request), done_(std::move(done)) {
  find_target();
  deadline_ = std::chrono::steady_clock::now() + (is_definition() ? of_.definition_patience : of_.patience);
}

ForwardedStatement::ForwardedStatement(const ForwardingParts& parts, const auth::Login* login,
                                       cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                                       const Request& request, Completion done)
    : of_(parts),
      login_(login),
      batch_(kind),
      items_(std::move(items)),
      request_(request),
      done_(std::move(done)),
      deadline_(std::chrono::steady_clock::now() + of_.patience) {
  find_target();
}

void ForwardedStatement::find_target() {
  const int64_t now = of_.clock.now_micros();
  if (plan_) {
    target_ = target_of(*plan_, request_.values, now, of_.shard_of);
    return;
  }
  target_ = {};
  for (const execute::BatchItem& item : items_) {
    const Target one = target_of(item, now, of_.shard_of);
    if (one.kind != Target::Kind::shards) {  // This server can report the error of the statement.
      target_ = Target::here();
      return;
    }
    target_.kind = Target::Kind::shards;
    target_.shards.insert(one.shards.begin(), one.shards.end());
    target_.is_random = target_.is_random || one.is_random;
  }
}

ForwardedStatement::Owner ForwardedStatement::find_owner() const {
  Owner found;
  for (const uint32_t shard : target_.shards) {
    auto owner = of_.routing.owner(shard);
    if (!owner) return {};
    found.shards.push_back({shard, owner->epoch});
    if (found.shards.size() == 1) {
      found.owner = std::move(*owner);
    } else if (owner->member != found.owner.member) {
      found.kind = Owner::Kind::several;
      return found;
    }
  }
  found.kind = Owner::Kind::one;
  return found;
}

// Ignores an exception that is thrown after the result was delivered.
void ForwardedStatement::finish(Result<ResultSet> result) {
  if (!has_finished_.exchange(true)) done_(std::move(result));
}

void ForwardedStatement::run() {
  if (target_.kind == Target::Kind::define) target_.shards = {meta_shard};
  // A statement that names no partition, such as one with IN (), needs no shard.
  if (target_.kind == Target::Kind::here || target_.kind == Target::Kind::many || target_.shards.empty())
    return give_to_engine(
        [self = shared_from_this()](Result<ResultSet> result) { self->finish(std::move(result)); });
  const Owner owner = find_owner();
  switch (owner.kind) {
    case Owner::Kind::none:
      return retry("no server owns its partition");
    case Owner::Kind::several:
      return run_spread();
    case Owner::Kind::one:
      return owner.owner.is_here ? run_here(owner.shards) : send(owner);
  }
}

// --- Here

void ForwardedStatement::give_to_engine(Completion done, execute::WriteProgress* progress) {
  execute::Request request = request_;
  request.progress = progress;
  if (plan_) return of_.here.execute_as(login_, plan_, request, std::move(done));
  of_.here.execute_batch_as(login_, *batch_, items_, request, std::move(done));
}

void ForwardedStatement::run_here(const Shards& shards) {
  const auto held = std::make_shared<HeldShards>();
  // For definitions, the engine holds the catalogue itself, but not while other servers read it.
  if (!is_definition()) {
    for (const auto& [shard, epoch] : shards) {
      held->uses.push_back(of_.shards.use(shard));
      if (!held->uses.back()) return retry("its partition is being opened");
    }
  }
  give_to_engine(
      [self = shared_from_this(), held](Result<ResultSet> result) {
        held->uses.clear();
        self->ran_here(std::move(result));
      },
      held.get());
}

void ForwardedStatement::ran_here(Result<ResultSet> result) {
  if (!result && storage::is_not_here(result.error())) {
    if (!target_.is_random || ++quick_retries_ > max_quick_retries) return retry("its partition is moving");
    return run_later(0, [self = shared_from_this()] { self->run_again(); });
  }
  if (!result && is_lost_lease(result.error())) {
    if (is_read()) return retry("this server has lost its lease");
    return end_as_unknown("this server has lost its lease while it ran the statement");
  }
  finish(std::move(result));
}

// Gives the write to the engine of this server: every server can write partitions of several owners. Counters
// are the exception.
void ForwardedStatement::run_spread() {
  count(of_.counts->spread);
  if (batch_ == cql::Batch::Kind::counter) return split();
  give_to_engine(
      [self = shared_from_this()](Result<ResultSet> result) { self->ran_here(std::move(result)); });
}

void ForwardedStatement::split() {
  std::map<uint32_t, std::vector<execute::BatchItem>> by_shard;
  for (const execute::BatchItem& item : items_) {
    const Target target = target_of(item, of_.clock.now_micros(), of_.shard_of);
    if (target.shards.size() != 1) return finish(base::fail(spread_error()));
    by_shard[*target.shards.begin()].push_back(item);
  }
  const auto collector = std::make_shared<SplitBatch>(
      by_shard.size(),
      [self = shared_from_this()](Result<ResultSet> result) { self->finish(std::move(result)); });
  for (auto& [shard, items] : by_shard)
    std::make_shared<ForwardedStatement>(of_, login_, *batch_, std::move(items), request_, collector->part())
        ->run();
}

// --- At another server

bool ForwardedStatement::is_planned_for(const schema::Snapshot& schema) const {
  const auto is_valid = [&](const plan::PreparedPtr& plan) {
    return plan::validity(*plan, schema) != plan::Validity::invalid;
  };
  if (plan_) return is_valid(plan_);
  return std::ranges::all_of(items_, [&](const auto& item) { return is_valid(item.statement); });
}

StatementRequest ForwardedStatement::make_request(const Shards& shards,
                                                  const schema::Snapshot& schema) const {
  StatementRequest request;
  request.shards = shards;
  request.schema_version = schema.version;
  if (login_ != nullptr) request.role = login_->role;
  request.parameters = request_;
  request.batch = batch_;
  const auto add = [&](const plan::Prepared& plan, std::span<const types::ValueView> values) {
    request.statements.push_back({plan.keyspace, plan.text, plan.id, {values.begin(), values.end()}});
  };
  if (plan_) add(*plan_, request_.values);
  for (const execute::BatchItem& item : items_) add(*item.statement, item.values);
  return request;
}

void ForwardedStatement::send(const Owner& to) {
  schema::SnapshotPtr schema = of_.schema.schema();
  while (!is_planned_for(*schema)) {
    if (const auto planned = plan_again(); !planned) return finish(base::fail(planned.error()));
    schema = of_.schema.schema();
  }
  count(of_.counts->forwarded);
  if (request_.trace != nullptr) request_.trace->step("Sending the statement to " + to.owner.member.name);
  of_.peers.call(to.owner.member, is_definition() ? cluster::Method::define : cluster::Method::execute,
                 make_request(to.shards, *schema).encode(), deadline_,
                 [self = shared_from_this(), name = to.owner.member.name](cluster::CallResult called) {
                   self->receive(name, std::move(called));
                 });
}

void ForwardedStatement::receive(const std::string& from, cluster::CallResult called) {
  using Outcome = StatementAnswer::Outcome;
  if (called.outcome == cluster::CallResult::Outcome::not_sent) return retry(std::move(called.why));
  if (called.outcome == cluster::CallResult::Outcome::unknown)
    return is_read() ? retry(std::move(called.why)) : end_as_unknown(called.why);
  auto answer = StatementAnswer::decode(called.answer, plan_ ? plan_->result : nullptr);
  if (!answer) return end_as_unknown(from + " has sent an answer that cannot be read");
  switch (answer->outcome) {
    case Outcome::done:
      return finish(std::move(answer->result));
    case Outcome::failed:
      return finish(base::fail(std::move(*answer->error)));
    case Outcome::moved:
      if (target_.is_random && ++quick_retries_ <= max_quick_retries)
        return run_later(0, [self = shared_from_this()] { self->run_again(); });
      return retry(from + " no longer owns the partition of the statement");
    case Outcome::other_schema:
      return run_later(0, [self = shared_from_this()] { self->reload_and_retry(); });
    case Outcome::result_unknown:
      if (is_read()) return retry(from + " has lost its lease");
      return end_as_unknown(from + " has lost its lease while it ran the statement");
  }
}

// --- Again

void ForwardedStatement::retry(std::string obstacle) {
  const int64_t pause = std::exchange(retry_micros_, std::min(retry_micros_ * 2, max_retry_micros));
  if (std::chrono::steady_clock::now() + std::chrono::microseconds(pause) > deadline_)
    return finish(base::fail(unavailable_error(request_, obstacle)));
  of_.routing.refresh();
  run_later(pause, [self = shared_from_this()] { self->run_again(); });
}

// The statement continues on another thread, so it must not use anything that belongs to the caller's.
void ForwardedStatement::run_later(int64_t micros, std::move_only_function<void()> task) {
  request_.interrupt = nullptr;
  auto in_pool = [self = shared_from_this(), task = std::move(task)]() mutable {
    TaskPool::Task work = [self, task = std::move(task)]() mutable {
      if (const auto status = base::contain([&] { task(); }); !status)
        self->finish(base::fail(status.error()));
    };
    if (!self->of_.pool.submit(work))
      self->finish(
          base::fail(base::Error(ErrorCode::overloaded, "Too many statements wait for their partitions")
                         .with_hint("nothing was executed")));
  };
  of_.timers.run_after(micros, std::move(in_pool));
}

void ForwardedStatement::run_again() {
  find_target();
  run();
}

void ForwardedStatement::reload_and_retry() {
  if (const auto reloaded = of_.reload(); !reloaded) return retry(reloaded.error().message());
  if (const auto planned = plan_again(); !planned) return finish(base::fail(planned.error()));
  if (std::chrono::steady_clock::now() > deadline_)
    return finish(base::fail(unavailable_error(request_, "the servers have different schemas")));
  run_again();
}

// A prepared statement whose meaning has changed is refused, because its values are encoded for the old
// meaning.
base::Status ForwardedStatement::plan_again() {
  const auto again = [&](const plan::PreparedPtr& plan) -> Result<plan::PreparedPtr> {
    if (!plan->id.empty()) return of_.planner.find_prepared(plan->id);
    return of_.planner.plan_query(plan->text, plan->keyspace);
  };
  if (plan_) {
    SIBYL_ASSIGN(plan_, again(plan_));
  }
  for (execute::BatchItem& item : items_) {
    SIBYL_ASSIGN(item.statement, again(item.statement));
  }
  return {};
}

void ForwardedStatement::end_as_unknown(const std::string& why) {
  if (is_read()) return finish(base::fail(timeout_error(ErrorCode::read_timeout, request_, why)));
  if (is_definition())
    return finish(
        base::fail(base::Error(ErrorCode::server, "The outcome of the definition is unknown: " + why)
                       .with_hint("check the schema, and repeat the definition if its change is missing")));
  finish(base::fail(timeout_error(ErrorCode::write_timeout, request_,
                                  why + "; the write may or may not have been applied")));
}

}  // namespace sibyl::forwarding
