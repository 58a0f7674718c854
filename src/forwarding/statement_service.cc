#include "forwarding/statement_service.h"

#include <utility>
#include <vector>

#include "base/contain.h"
#include "plan/execution_profile.h"

namespace sibyl::forwarding {

using base::ErrorCode;
using base::Result;
using execute::ResultSet;
using Outcome = StatementAnswer::Outcome;

// One statement or batch. It also interrupts the execution at the deadline, because no caller waits for an
// answer after that.
class StatementService::Running final : public execute::Interrupt,
                                        public execute::WriteProgress,
                                        public std::enable_shared_from_this<Running> {
 public:
  Running(StatementService& service, cluster::PeerService::Call call, cluster::PeerService::Answer answer)
      : service_(service), of_(service.of_), call_(std::move(call)), answer_(std::move(answer)) {}
  ~Running() override {
    uses_.clear();
    const base::MutexLock lock(service_.mutex_);
    if (--service_.running_ == 0) service_.changed_.notify_all();
  }

  // Decodes the request. Returns false if it was answered with an error.
  bool decode();
  // Takes the shards that the statement needs. If one of them is not here, reports this and returns false.
  bool hold_shards();
  bool has_same_schema() const { return of_.schema.schema()->version == request_.schema_version; }
  // Looks for existing plans of the statements. Returns false if some must be created.
  bool find_plans();
  bool is_quick() const;
  void execute_at_once();
  // Does everything that is still to be done. Blocks.
  void run_whole();
  void execute();
  void refuse(base::Error error) { send({.outcome = Outcome::failed, .error = std::move(error)}); }

  // Releases the shards, so that they may move while views in other shards are renewed.
  void committed() override { uses_.clear(); }
  base::Status check() const override {
    if (std::chrono::steady_clock::now() <= call_.deadline) return {};
    return base::fail(
        base::Error(ErrorCode::read_timeout, "Operation timed out - received only 0 responses."));
  }

 private:
  base::Status plan_all();
  base::Status find_login();
  void send(StatementAnswer answer);
  void finish(Result<ResultSet> result);
  bool writes() const { return request_.batch || !plans_.front()->profile.is_read(); }

  StatementService& service_;
  const Parts& of_;
  cluster::PeerService::Call call_;  // keeps the message from which the values of the request borrow
  cluster::PeerService::Answer answer_;
  StatementRequest request_;
  std::vector<std::unique_ptr<storage::ShardedStore::Use>> uses_;
  std::vector<plan::PreparedPtr> plans_;
  const auth::Login* login_ = nullptr;
};

bool StatementService::may_read_at_once() const {
  return std::chrono::steady_clock::now() >= reads_wait_until_.load(std::memory_order_relaxed);
}

void StatementService::note_read(std::chrono::steady_clock::duration took) {
  // A read that needs only memory takes a few microseconds.
  constexpr std::chrono::microseconds max_read{300};
  constexpr std::chrono::milliseconds period{100};
  if (took > max_read)
    reads_wait_until_.store(std::chrono::steady_clock::now() + period, std::memory_order_relaxed);
}

StatementService::~StatementService() {
  const base::MutexLock lock(mutex_);
  while (running_ > 0) changed_.wait(mutex_);
}

std::shared_ptr<StatementService::Running> StatementService::begin(cluster::PeerService::Call call,
                                                                   cluster::PeerService::Answer answer) {
  {
    const base::MutexLock lock(mutex_);
    ++running_;
  }
  return std::make_shared<Running>(*this, std::move(call), std::move(answer));
}

cluster::PeerService::Handler StatementService::statements() {
  return [this](cluster::PeerService::Call call, cluster::PeerService::Answer answer) {
    const auto running = begin(std::move(call), std::move(answer));
    if (!running->decode() || !running->hold_shards()) return;
    // A plan that is created while the schema changes may be for the newer schema.
    if (running->find_plans() && running->has_same_schema() && running->is_quick())
      return running->execute_at_once();
    TaskPool::Task task = [running] { running->run_whole(); };
    if (!of_.pool.submit(task))
      running->refuse(
          base::Error(ErrorCode::overloaded, "Request refused: the owner of the partition is busy")
              .with_hint("nothing was executed"));
  };
}

// Runs definitions on the engine, which holds the catalogue itself.
cluster::PeerService::Handler StatementService::definitions() {
  return [this](cluster::PeerService::Call call, cluster::PeerService::Answer answer) {
    const auto running = begin(std::move(call), std::move(answer));
    if (running->decode()) running->run_whole();
  };
}

bool StatementService::Running::decode() {
  auto request = StatementRequest::decode(call_.message);
  if (!request) {
    refuse(base::Error(ErrorCode::protocol, "A server has sent a statement that this server cannot read")
               .with_hint("the servers of a cluster must have compatible versions"));
    return false;
  }
  request_ = std::move(*request);
  return true;
}

bool StatementService::Running::hold_shards() {
  for (const auto& [shard, epoch] : request_.shards) {
    auto use = of_.shards.use(shard);
    if (!use || of_.shards.open_epoch(shard) != epoch) {
      send({.outcome = Outcome::moved});
      return false;
    }
    uses_.push_back(std::move(use));
  }
  return true;
}

bool StatementService::Running::find_plans() {
  if (!find_login()) return false;
  for (const StatementText& statement : request_.statements) {
    auto plan = statement.id.empty() ? of_.planner.plan_query(statement.text, statement.keyspace)
                                     : of_.planner.find_prepared(statement.id);
    if (!plan) return false;
    plans_.push_back(std::move(*plan));
  }
  return true;
}

bool StatementService::Running::is_quick() const {
  if (plans_.size() > plan::max_quick_batch_statements) return false;
  for (const plan::PreparedPtr& plan : plans_) {
    const plan::ExecutionProfile& profile = plan->profile;
    if (profile.may_block || profile.is_compute_heavy || profile.reads_slice) return false;
    if (!profile.is_write() && !(profile.is_read() && service_.may_read_at_once())) return false;
  }
  return true;
}

void StatementService::Running::execute_at_once() {
  if (writes()) return execute();
  const auto began = std::chrono::steady_clock::now();
  execute();
  service_.note_read(std::chrono::steady_clock::now() - began);
}

// The schema is compared after planning, because a plan that was created meanwhile may be for a newer schema.
void StatementService::Running::run_whole() {
  if (!has_same_schema())
    if (const auto reloaded = of_.reload(); !reloaded) return refuse(reloaded.error());
  if (const auto known = find_login(); !known) return refuse(known.error());
  plans_.clear();
  const base::Status planned = has_same_schema() ? plan_all() : base::Status();
  if (!has_same_schema())
    return send({.outcome = Outcome::other_schema, .schema_version = of_.schema.schema()->version});
  if (!planned) return refuse(planned.error());
  execute();
}

base::Status StatementService::Running::plan_all() {
  for (const StatementText& statement : request_.statements) {
    if (!statement.id.empty()) {
      if (auto found = of_.planner.find_prepared(statement.id)) {
        plans_.push_back(std::move(*found));
        continue;
      }
      SIBYL_ASSIGN(engine::PreparedStatement prepared,
                   of_.planner.prepare(statement.text, statement.keyspace));
      plans_.push_back(std::move(prepared.plan));
      continue;
    }
    SIBYL_ASSIGN(plan::PreparedPtr plan, of_.planner.plan_query(statement.text, statement.keyspace));
    plans_.push_back(std::move(plan));
  }
  return {};
}

// The caller has authenticated the role. Its permissions are checked here.
base::Status StatementService::Running::find_login() {
  if (!request_.role) return {};
  SIBYL_ASSIGN(login_, of_.authenticator.login_of(*request_.role));
  return {};
}

void StatementService::Running::execute() {
  execute::Request parameters = request_.parameters;
  parameters.interrupt = this;
  parameters.progress = this;
  const auto done = [self = shared_from_this()](Result<ResultSet> result) {
    self->finish(std::move(result));
  };
  if (!request_.batch) {
    parameters.values = request_.statements.front().values;
    return of_.here.execute_as(login_, plans_.front(), parameters, done);
  }
  std::vector<execute::BatchItem> items;
  for (size_t i = 0; i < plans_.size(); ++i) items.push_back({plans_[i], request_.statements[i].values});
  of_.here.execute_batch_as(login_, *request_.batch, std::move(items), parameters, done);
}

void StatementService::Running::finish(Result<ResultSet> result) {
  uses_.clear();
  if (result) return send({.outcome = Outcome::done, .result = std::move(*result)});
  if (storage::is_not_here(result.error())) return send({.outcome = Outcome::moved});
  // This server may not own the shards any more.
  if (result.error().code() == ErrorCode::bootstrapping)
    return send({.outcome = writes() ? Outcome::result_unknown : Outcome::moved});
  refuse(std::move(result.error()));
}

void StatementService::Running::send(StatementAnswer answer) {
  const bool has_plan = !request_.batch && !plans_.empty();
  answer_(answer.encode(has_plan ? plans_.front()->result : nullptr));
}

}  // namespace sibyl::forwarding
