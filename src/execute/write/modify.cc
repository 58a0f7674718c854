#include "execute/write/modify.h"

#include <fmt/format.h>

#include <utility>

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

base::Result<storage::WriteSet> build_conditional(const Modification& statement, const Request& request,
                                                  Environment& environment, LockAttempt& attempt,
                                                  ResultSet& result, std::vector<ViewRow>& view_rows) {
  ConditionalBuilder builder({{&statement, request.values}}, *statement.conditional, false, request,
                             environment);
  const base::Status status = builder.build(attempt);
  result = std::move(builder.result);
  if (!status) return base::fail(status.error());
  view_rows = std::move(builder.view_rows);
  return std::move(builder.writes);
}

struct Spread {
  bool is_needed = false;  // is_over_servers()
  int64_t timestamp = 0;   // timestamp that this server assigned
  std::vector<ViewRow> view_rows;
};

// Performs everything up to the commit. Takes the locks if the statement reads first. If it must wait for
// them, nothing is built.
base::Result<storage::WriteSet> build(const Modification& statement, const Request& request,
                                      Environment& environment, LockAttempt& attempt, ResultSet& result,
                                      Spread& spread) {
  if (statement.conditions)
    return build_conditional(statement, request, environment, attempt, result, spread.view_rows);
  Workspace& space = workspace();
  space.guardrails = environment.guardrails;
  const plan::Bindings bindings = bindings_of(request.values, environment.clock.now_micros());
  Targets& targets = space.targets;
  size_t named = 0;
  SIBYL_TRY(resolve_targets(statement, bindings, space, targets, named));
  PartitionLocks& locks = environment.locks;
  spread.is_needed = is_over_servers(environment, targets.prefixes);
  if (spread.is_needed && statement.is_counter) return base::fail(counters_over_servers());
  if (takes_locks(statement) && !spread.is_needed && !attempt.take(locks, locks.stripes_of(targets.prefixes)))
    return storage::WriteSet();
  spread.timestamp = environment.timestamps.next();
  SIBYL_ASSIGN(const WriteContext context,
               write_context_of(statement, bindings, request, std::nullopt, spread.timestamp, space.scratch));
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
  if (table->needs_index_maintenance() && !spread.is_needed)
    SIBYL_TRY(maintain_indexes({&table, 1}, environment, request, writes, spread.view_rows));
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
  Spread spread;
  auto writes = run_interruptible(
      request.interrupt, [&] { return build(statement, request, environment, attempt, result, spread); });
  if (attempt.must_wait()) return false;
  if (!writes) {
    attempt.held.release();
    done(base::fail(std::move(writes.error())));
    return true;
  }
  if (spread.is_needed) {
    commit_spread(environment, {std::move(*writes), spread.timestamp, false}, std::move(result),
                  std::move(counted), std::move(done));
    return true;
  }
  commit(environment, std::move(*writes), std::move(spread.view_rows), std::move(attempt.held),
         std::move(result), std::move(counted), std::move(done), request);
  return true;
}

void modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
            Completion done) {
  LockAttempt attempt;
  while (!try_modify(prepared, request, environment, attempt, done))
    attempt.held = environment.locks.acquire(std::move(attempt.wanted));
}

}  // namespace sibyl::execute
