#include <fmt/format.h>

#include <utility>

#include "execute/execute.h"
#include "execute/index/maintenance.h"
#include "execute/interruptible.h"
#include "execute/trace.h"
#include "execute/vector/vector_indexes.h"
#include "execute/write/conditional.h"
#include "execute/write/modify_build.h"
#include "execute/write/modify_commit.h"
#include "execute/write/try_write.h"
#include "execute/write_limits.h"
#include "plan/statements/attributes.h"

namespace sibyl::execute {

using plan::Modification;

namespace {

void notify_end(Observer* observer, const Counted& counted, const ResultSet& result) {
  if (observer != nullptr && counted.shape != nullptr) observer->ended(counted, result);
}

}  // namespace

void commit(Environment& environment, storage::WriteSet writes, PartitionLocks::Held held, ResultSet result,
            Counted counted, Completion done, Trace* trace) {
  if (trace != nullptr && !writes.empty())
    trace->step(fmt::format("Committing {} records of {} bytes together", writes.operations().size(),
                            writes.byte_size()));
  if (writes.empty()) {
    held.release();
    notify_end(environment.observer, counted, result);
    done(std::move(result));
    return;
  }
  VectorIndexes* vectors = environment.vectors;
  std::vector<VectorIndexes::Change> changes;
  if (vectors != nullptr) changes = vectors->changes_of(writes);
  environment.store.commit(std::move(writes), [done = std::move(done), held = std::move(held), vectors,
                                               changes = std::move(changes), observer = environment.observer,
                                               counted = std::move(counted),
                                               result = std::move(result)](base::Status status) mutable {
    if (status && !changes.empty()) vectors->committed(std::move(changes));
    held.release();
    if (status) {
      notify_end(observer, counted, result);
      done(std::move(result));
    } else {
      done(base::fail(std::move(status.error())));
    }
  });
}

plan::Bindings bindings_of(std::span<const types::ValueView> values, int64_t now_micros) {
  plan::Bindings bindings;
  bindings.values = values;
  bindings.now_micros = now_micros;
  return bindings;
}

int64_t now_seconds_of(const Request& request, int64_t now_micros) {
  return request.now_seconds ? *request.now_seconds : now_micros / 1'000'000;
}

void observe(Environment& environment, const Modification& statement, const Targets& targets) {
  const base::UnlimitedMemory unlimited;  // statistics are shared by all statements
  if (environment.observer != nullptr) environment.observer->written(*statement.table, targets.prefixes);
}

base::Result<WriteContext> write_context_of(const Modification& statement, const plan::Bindings& bindings,
                                            const Request& request, std::optional<int64_t> batch_timestamp,
                                            int64_t server_timestamp, plan::Scratch& scratch) {
  WriteContext context;
  // Written data would expire or be purged as soon as the clock is corrected.
  if (bindings.now_micros < 0 && !request.now_seconds)
    return base::fail(base::Error(base::ErrorCode::server,
                                  "The system clock shows a time before 1970: nothing can be written")
                          .with_hint("set the clock"));
  SIBYL_ASSIGN(std::optional<int64_t> timestamp,
               plan::timestamp_of(statement.attributes.timestamp, bindings, scratch));
  if (!timestamp) timestamp = batch_timestamp;
  // Counters use only the server's clock: an increment must be later than everything it has read.
  if (!timestamp && !statement.is_counter) timestamp = request.timestamp_micros;
  context.timestamp = timestamp.value_or(server_timestamp);
  context.now_micros = bindings.now_micros;
  context.now_seconds = now_seconds_of(request, bindings.now_micros);
  if (statement.kind != Modification::Kind::delete_ && !statement.is_counter) {
    SIBYL_ASSIGN(context.time_to_live, plan::time_to_live_of(statement.attributes.time_to_live,
                                                             *statement.table, bindings, scratch));
  }
  return context;
}

namespace {

base::Result<storage::WriteSet> build_conditional(const Modification& statement, const Request& request,
                                                  Environment& environment, LockAttempt& attempt,
                                                  ResultSet& result) {
  ConditionalBuilder builder({{&statement, request.values}}, *statement.conditional, false, request,
                             environment);
  const base::Status status = builder.build(attempt);
  result = std::move(builder.result);
  if (!status) return base::fail(status.error());
  return std::move(builder.writes);
}

// Performs everything up to the commit. Takes the locks if the statement reads first. If it must wait for
// them, nothing is built.
base::Result<storage::WriteSet> build(const Modification& statement, const Request& request,
                                      Environment& environment, LockAttempt& attempt, ResultSet& result) {
  if (statement.conditions) return build_conditional(statement, request, environment, attempt, result);
  Workspace& space = workspace();
  space.guardrails = environment.guardrails;
  const plan::Bindings bindings = bindings_of(request.values, environment.clock.now_micros());
  Targets& targets = space.targets;
  size_t named = 0;
  SIBYL_TRY(resolve_targets(statement, bindings, space, targets, named));
  PartitionLocks& locks = environment.locks;
  if (takes_locks(statement) && !attempt.take(locks, locks.stripes_of(targets.prefixes)))
    return storage::WriteSet();
  SIBYL_ASSIGN(const WriteContext context, write_context_of(statement, bindings, request, std::nullopt,
                                                            environment.timestamps.next(), space.scratch));
  storage::WriteSet writes;
  result.partitions_written = targets.prefixes.size();
  if (!statement.reads_first) {
    SIBYL_TRY(build_writes(statement, targets, bindings, context, nullptr, space, writes));
    result.warnings = std::move(space.warnings);
    observe(environment, statement, targets);
    return writes;
  }
  result.partitions_read = targets.prefixes.size();
  result.rows_read = targets.prefixes.size() * targets.rows.size();
  Before before{ReadBefore(environment.store_of(*statement.table), context.now_seconds), {}};
  SIBYL_TRY(build_writes(statement, targets, bindings, context, &before, space, writes));
  result.warnings = std::move(space.warnings);
  SIBYL_TRY(before.counters.write(before.reads, context.timestamp, writes));
  const schema::Table* const table = statement.table.get();
  if (table->needs_index_maintenance())
    SIBYL_TRY(add_index_maintenance({&table, 1}, environment.store, writes, request.interrupt));
  observe(environment, statement, targets);
  return writes;
}

base::Status check_consistency(const Modification& statement, Consistency consistency) {
  if (statement.is_counter && consistency == Consistency::any) {
    return base::invalid("Consistency level ANY is not yet supported for counter table " +
                         statement.table->name);
  }
  if (!is_serial(consistency) || statement.conditions) return {};
  return base::invalid(statement.is_counter ? "Counter operations are inherently non-serializable"
                                            : "You must use conditional updates for serializable writes");
}

}  // namespace

bool try_modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
                LockAttempt& attempt, Completion& done) {
  const Modification& statement = *std::get<std::shared_ptr<const Modification>>(prepared.plan);
  if (request.values.size() != prepared.markers.size()) {
    done(base::invalid("Invalid amount of bind variables"));
    return true;
  }
  if (auto status = check_consistency(statement, request.consistency); !status) {
    done(base::fail(std::move(status.error())));
    return true;
  }
  Counted counted = count_from_first(prepared.shape, attempt);
  ResultSet result;
  auto writes = run_interruptible(request.interrupt,
                                  [&] { return build(statement, request, environment, attempt, result); });
  if (attempt.must_wait()) return false;
  if (!writes) {
    attempt.held.release();
    done(base::fail(std::move(writes.error())));
    return true;
  }
  commit(environment, std::move(*writes), std::move(attempt.held), std::move(result), std::move(counted),
         std::move(done), request.trace);
  return true;
}

bool try_write(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done) {
  if (std::holds_alternative<std::shared_ptr<const Modification>>(prepared.plan))
    return try_modify(prepared, request, environment, attempt, done);
  if (std::holds_alternative<plan::Truncate>(prepared.plan))
    return try_truncate(prepared, environment, attempt, done);
  return try_batch(prepared, request, environment, attempt, done);
}

void modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
            Completion done) {
  LockAttempt attempt;
  while (!try_modify(prepared, request, environment, attempt, done))
    attempt.held = environment.locks.acquire(std::move(attempt.wanted));
}

}  // namespace sibyl::execute
