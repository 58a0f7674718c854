#include "execute/write/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "execute/interrupt_check.h"
#include "execute/interruptible.h"
#include "execute/write/combine_merges.h"
#include "execute/write/conditional.h"
#include "execute/write/modify_build.h"
#include "execute/write/modify_commit.h"
#include "execute/write/try_write.h"
#include "execute/write_limits.h"
#include "plan/statements/attributes.h"

namespace sibyl::execute {

using plan::Modification;

namespace {

using Item = BoundStatement;

// Builds one atomic write set from a batch.
class BatchBuilder {
 public:
  // `conditional` is the shape of the response if some statement has conditions, otherwise nullptr.
  BatchBuilder(cql::Batch::Kind kind, std::vector<Item> items, const plan::ConditionalResult* conditional,
               plan::TermPtr timestamp, const Request& request, Environment& environment)
      : kind_(kind),
        items_(std::move(items)),
        conditional_(conditional),
        timestamp_(std::move(timestamp)),
        request_(request),
        environment_(environment),
        interrupt_(request.interrupt),
        now_micros_(environment.clock.now_micros()) {}

  const Interrupt* interrupt() const { return request_.interrupt; }
  const Request& request() const { return request_; }
  // If the locks are taken, nothing is built and attempt.must_wait() is true.
  base::Status build(LockAttempt& attempt) {
    if (conditional_) return build_conditional(attempt);
    Workspace& space = workspace();
    space.guardrails = environment_.guardrails;
    std::vector<Targets> targets(items_.size());
    bool must_lock = false;
    size_t named = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      SIBYL_TRY(interrupt_.step());
      SIBYL_TRY(resolve_targets(*items_[i].statement, bindings_of(items_[i].values, now_micros_), space,
                                targets[i], named));
      must_lock = must_lock || takes_locks(*items_[i].statement);
      for (const Bytes& prefix : targets[i].prefixes) partitions_.insert(prefix);
    }
    is_spread = is_over_servers(environment_, partitions_);
    if (is_spread && std::ranges::any_of(items_, [](const Item& item) { return item.statement->is_counter; }))
      return base::fail(counters_over_servers());
    // The owners of the partitions lock them and maintain indexes.
    if (must_lock && !is_spread) {
      const std::vector<Bytes> prefixes(partitions_.begin(), partitions_.end());
      if (!attempt.take(environment_.locks, environment_.locks.stripes_of(prefixes))) return {};
    }
    SIBYL_TRY(build_all(targets, space));
    SIBYL_TRY(check_size());
    result.partitions_written = partitions_.size();
    if (!is_spread) SIBYL_TRY(add_index_maintenance());
    for (size_t i = 0; i < items_.size(); ++i) count(*items_[i].statement, targets[i]);
    return {};
  }

  storage::WriteSet writes;
  std::vector<ViewRow> view_rows;  // view rows in other shards that the writes affect
  ResultSet result;
  bool is_spread = false;  // over several servers
  int64_t server_timestamp = 0;
  bool is_logged() const { return kind_ == cql::Batch::Kind::logged; }

 private:
  base::Status build_conditional(LockAttempt& attempt) {
    ConditionalBuilder builder(std::move(items_), *conditional_, true, request_, environment_);
    const base::Status status = builder.build(attempt);
    writes = std::move(builder.writes);
    view_rows = std::move(builder.view_rows);
    result = std::move(builder.result);
    return status;
  }

  base::Status build_all(const std::vector<Targets>& targets, Workspace& space) {
    SIBYL_ASSIGN(const std::optional<int64_t> batch_timestamp,
                 plan::timestamp_of(timestamp_, bindings_of(request_.values, now_micros_), space.scratch));
    // One timestamp for all: the statements of a batch are simultaneous.
    server_timestamp = environment_.timestamps.next();
    Before before{ReadBefore(environment_.store, now_seconds_of(request_, now_micros_)), {}};
    for (size_t i = 0; i < items_.size(); ++i) {
      SIBYL_TRY(interrupt_.step());
      const plan::Bindings bindings = bindings_of(items_[i].values, now_micros_);
      SIBYL_ASSIGN(const WriteContext context,
                   write_context_of(*items_[i].statement, bindings, request_, batch_timestamp,
                                    server_timestamp, space.scratch));
      SIBYL_TRY(build_writes(*items_[i].statement, targets[i], bindings, context, &before, space, writes));
    }
    result.warnings = std::move(space.warnings);
    SIBYL_TRY(before.counters.write(before.reads, server_timestamp, writes));
    combine_merges(writes);
    return {};
  }

  void count(const Modification& statement, const Targets& targets) {
    if (statement.reads_first) {
      result.partitions_read += targets.prefixes.size();
      result.rows_read += targets.prefixes.size() * targets.rows.size();
    }
    observe(environment_, statement, targets);
  }

  base::Status add_index_maintenance() {
    std::vector<const schema::Table*> tables;
    for (const Item& item : items_)
      if (item.statement->table->needs_index_maintenance()) tables.push_back(item.statement->table.get());
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    if (tables.empty()) return {};
    return maintain_indexes(tables, environment_, request_, writes, view_rows);
  }

  std::set<std::string> table_names() const {
    std::set<std::string> names;
    for (const Item& item : items_)
      names.insert(fmt::format("{}.{}", item.statement->table->keyspace, item.statement->table->name));
    return names;
  }

  base::Status check_size() {
    if (partitions_.size() <= 1) return {};
    const plan::Guardrails& guardrails = *environment_.guardrails;
    const auto warn_bytes = static_cast<size_t>(guardrails.batch_size_warn_threshold);
    const auto fail_bytes = static_cast<size_t>(guardrails.batch_size_fail_threshold);
    const auto max_unlogged = static_cast<size_t>(guardrails.unlogged_batch_across_partitions_warn_threshold);
    const std::set<std::string> names = table_names();
    const std::string tables = fmt::format("[{}]", fmt::join(names, ", "));
    if (const size_t size = writes.byte_size(); size > warn_bytes) {
      if (size > fail_bytes) {
        return base::fail(
            base::Error(base::ErrorCode::invalid, "Batch too large")
                .with_hint(fmt::format("it has {} bytes, and a batch over several partitions may have {}; "
                                       "write the partitions one by one",
                                       size, fail_bytes)));
      }
      result.warnings.push_back(
          fmt::format("Batch for {} is of size {}, exceeding specified threshold of {} by {}.", tables, size,
                      warn_bytes, size - warn_bytes));
    }
    if (kind_ != cql::Batch::Kind::logged && partitions_.size() > max_unlogged) {
      result.warnings.push_back(fmt::format(
          "Unlogged batch covering {} partitions detected against table{} {}. You should use a logged batch "
          "for atomicity, or asynchronous writes for performance.",
          partitions_.size(), names.size() == 1 ? "" : "s", tables));
    }
    return {};
  }

  cql::Batch::Kind kind_;
  std::vector<Item> items_;
  const plan::ConditionalResult* conditional_;
  plan::TermPtr timestamp_;
  const Request& request_;
  Environment& environment_;
  InterruptCheck interrupt_;
  int64_t now_micros_;
  std::set<Bytes> partitions_;
};

bool run(BatchBuilder builder, Environment& environment, Counted counted, LockAttempt& attempt,
         Completion& done) {
  auto status = run_interruptible(builder.interrupt(), [&] { return builder.build(attempt); });
  if (attempt.must_wait()) return false;
  if (!status) {
    attempt.held.release();
    done(base::fail(std::move(status.error())));
    return true;
  }
  if (builder.is_spread) {
    commit_spread(environment, {std::move(builder.writes), builder.server_timestamp, builder.is_logged()},
                  std::move(builder.result), std::move(counted), std::move(done));
    return true;
  }
  commit(environment, std::move(builder.writes), std::move(builder.view_rows), std::move(attempt.held),
         std::move(builder.result), std::move(counted), std::move(done), builder.request());
  return true;
}

// The statements of a protocol BATCH.
base::Result<std::vector<std::shared_ptr<const Modification>>> statements_of(
    std::span<const BatchItem> items) {
  std::vector<std::shared_ptr<const Modification>> statements;
  statements.reserve(items.size());
  for (const BatchItem& item : items) {
    const auto* statement = std::get_if<std::shared_ptr<const Modification>>(&item.statement->plan);
    if (!statement)
      return base::invalid(
          "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.");
    if (item.values.size() != item.statement->markers.size())
      return base::invalid(fmt::format("There were {} markers(?) in CQL but {} bound variables",
                                       item.statement->markers.size(), item.values.size()));
    statements.push_back(*statement);
  }
  return statements;
}

}  // namespace

bool try_batch(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done) {
  const plan::Batch& plan = *std::get<std::shared_ptr<const plan::Batch>>(prepared.plan);
  if (request.values.size() != prepared.markers.size()) {
    done(base::invalid("Invalid amount of bind variables"));
    return true;
  }
  Counted counted = count_from_first(prepared.shape, attempt);
  std::vector<Item> items;
  items.reserve(plan.statements.size());
  for (const auto& statement : plan.statements) items.push_back({statement.get(), request.values});
  return run(
      BatchBuilder(plan.kind, std::move(items), plan.conditional.get(), plan.timestamp, request, environment),
      environment, std::move(counted), attempt, done);
}

bool try_batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
               Environment& environment, std::shared_ptr<plan::QueryShape> shape, LockAttempt& attempt,
               Completion& done) {
  Counted counted = count_from_first(std::move(shape), attempt);
  auto statements = statements_of(items);
  base::Status status =
      statements ? plan::check_batch(kind, false, *statements) : base::fail(statements.error());
  if (!status) {
    done(base::fail(std::move(status.error())));
    return true;
  }
  std::vector<Item> bound;
  bound.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) bound.push_back({(*statements)[i].get(), items[i].values});
  std::optional<plan::ConditionalResult> conditional;
  if (plan::has_conditions(*statements)) conditional = plan::conditional_result(*statements, true);
  return run(BatchBuilder(kind, std::move(bound), conditional ? &*conditional : nullptr, nullptr, request,
                          environment),
             environment, std::move(counted), attempt, done);
}

void batch(const plan::Prepared& prepared, const Request& request, Environment& environment,
           Completion done) {
  LockAttempt attempt;
  while (!try_batch(prepared, request, environment, attempt, done))
    attempt.held = environment.locks.acquire(std::move(attempt.wanted));
}

void batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
           Environment& environment, std::shared_ptr<plan::QueryShape> shape, Completion done) {
  LockAttempt attempt;
  while (!try_batch(kind, items, request, environment, shape, attempt, done))
    attempt.held = environment.locks.acquire(std::move(attempt.wanted));
}

}  // namespace sibyl::execute
