#include "engine/execution.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "engine/builds/builds.h"
#include "engine/consistency.h"
#include "engine/describe/describe.h"
#include "engine/describe/explain_result.h"
#include "engine/lock_waits.h"
#include "engine/roles/role_statements.h"
#include "engine/tracing/trace_steps.h"
#include "execute/interruptible.h"
#include "execute/read/select.h"
#include "execute/write/batch.h"
#include "plan/statements/select.h"
#include "storage/sharded_store.h"

namespace sibyl::engine {
namespace {

using execute::Completion;
using execute::Request;
using execute::ResultSet;
using plan::PreparedPtr;

// Withholds rows that another server may have changed. The check follows the read, because the process may be
// stopped at any time in between. A write without rows needs no check: a write that succeeded is durable.
Completion if_may_answer(const std::function<bool()>& may_answer, Completion done) {
  return [&may_answer, done = std::move(done)](base::Result<ResultSet> result) mutable {
    if (result && result->kind == ResultSet::Kind::rows && !may_answer())
      return done(base::fail(base::Error(base::ErrorCode::bootstrapping,
                                         "This server has lost its lease: another server may have taken over")
                                 .with_hint("ask another server of the cluster")));
    done(std::move(result));
  };
}

// Adds the warnings of planning to the result.
Completion with_warnings(std::vector<std::string> warnings, Completion done) {
  return [warnings = std::move(warnings), done = std::move(done)](base::Result<ResultSet> result) mutable {
    if (result) result->warnings.insert(result->warnings.begin(), warnings.begin(), warnings.end());
    done(std::move(result));
  };
}

bool needs_building(const cql::Statement& statement, const ResultSet& result) {
  return result.kind == ResultSet::Kind::schema_change &&
         (std::holds_alternative<cql::CreateIndex>(statement.node) ||
          std::holds_alternative<cql::CreateView>(statement.node));
}

}  // namespace

Execution::Execution(SealingKey paging_key, const Parts& parts)
    : of_(parts),
      paging_states_(std::move(paging_key)),
      permissions_(of_.roles),
      disk_usage_(of_.options.guardrails, of_.environment.store, of_.options.data) {}

void Execution::execute_as(const auth::Login* login, PreparedPtr plan, const Request& request,
                           Completion done) {
  if (of_.options.shared && of_.options.shared->may_answer)
    done = if_may_answer(of_.options.shared->may_answer, std::move(done));
  if (base::Status status = check_permission(plan, login); !status)
    return done(base::fail(std::move(status.error())));
  std::vector<std::string> warnings;
  if (base::Status status =
          check_request(*plan, request, of_.schema_changes, of_.options.guardrails, warnings);
      !status)
    return done(base::fail(std::move(status.error())));
  if (plan->profile.is_write())
    if (base::Status status = disk_usage_.check(warnings); !status)
      return done(base::fail(std::move(status.error())));
  if (!warnings.empty()) done = with_warnings(std::move(warnings), std::move(done));
  if (request.trace != nullptr)
    done = with_steps(describe_run(*plan), committed(), *request.trace, std::move(done));
  if (!plan->warnings.empty()) done = with_warnings(plan->warnings, std::move(done));
  if (hides(plan->tables, login)) {
    Request hiding = request;
    hiding.unmasked = false;
    return std::visit([&](const auto& what) { run(what, plan, hiding, login, std::move(done)); }, plan->plan);
  }
  std::visit([&](const auto& what) { run(what, plan, request, login, std::move(done)); }, plan->plan);
}

// Reading these tables needs no permission.
void Execution::execute_relayed(const base::Bytes& host_id, const auth::Login* login, PreparedPtr plan,
                                const Request& request, Completion done) {
  const auto* select = std::get_if<std::shared_ptr<const plan::Select>>(&plan->plan);
  const std::shared_ptr<storage::Store> view = select != nullptr && !plan->tables.empty()
                                                   ? of_.system_tables.view_of(host_id, *plan->tables.front())
                                                   : nullptr;
  if (!view) return execute_as(login, std::move(plan), request, std::move(done));
  execute::Environment& own = of_.environment;
  execute::Environment seen{own.store, *view,       own.clock,      own.timestamps,
                            own.locks, own.vectors, own.guardrails, own.observer};
  done(paging_states_.run(plan->text, login, request,
                          [&](const Request& opened) { return execute::select(*plan, opened, seen); }));
}

void Execution::execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                                 std::vector<execute::BatchItem> items, const Request& request,
                                 Completion done) {
  if (of_.options.shared && of_.options.shared->may_answer)
    done = if_may_answer(of_.options.shared->may_answer, std::move(done));
  for (const execute::BatchItem& item : items)
    if (base::Status status = check_permission(item.statement, login); !status)
      return done(base::fail(std::move(status.error())));
  std::vector<std::string> warnings;
  if (base::Status status =
          check_request(items, request, of_.schema_changes, of_.options.guardrails, warnings);
      !status)
    return done(base::fail(std::move(status.error())));
  if (base::Status status = disk_usage_.check(warnings); !status)
    return done(base::fail(std::move(status.error())));
  if (!warnings.empty()) done = with_warnings(std::move(warnings), std::move(done));
  if (request.trace != nullptr)
    done = with_steps(fmt::format("Executing a batch of {} statements", items.size()), committed(),
                      *request.trace, std::move(done));
  Request hiding = request;
  for (const execute::BatchItem& item : items)
    hiding.unmasked = hiding.unmasked && !hides(item.statement->tables, login);
  write_batch(kind, std::move(items), hiding, std::move(done), {});
}

// The trace step at the end of a write.
const char* Execution::committed() const {
  if (of_.options.data == ":memory:") return "Committed in memory";
  return of_.options.commitlog_sync == Options::Sync::group ? "Committed and synced"
                                                            : "Committed; the log is synced later";
}

base::Status Execution::check_permission(const PreparedPtr& plan, const auth::Login* login) const {
  if (login == nullptr || !of_.roles.checks_permissions()) return {};
  return permissions_.check(plan, *login, [this] { return of_.schema_changes.schema(); });
}

// Returns true if masks hide column values of these tables from the user.
bool Execution::hides(const std::vector<schema::TablePtr>& tables, const auth::Login* login) const {
  return of_.options.dynamic_data_masking && login != nullptr && of_.roles.checks_permissions() &&
         !may_unmask(tables, login->role, *of_.roles.access());
}

// Fills the virtual tables that the plan reads.
base::Status Execution::refresh_virtual(const plan::Prepared& plan) {
  for (const schema::TablePtr& table : plan.tables)
    if (table->is_virtual) SIBYL_TRY(of_.system_tables.refresh(*table));
  return {};
}

// --- One function per kind of plan.

void Execution::run(const std::shared_ptr<const plan::Select>& select, const PreparedPtr& plan,
                    const Request& request, const auth::Login* login, Completion done) {
  if (base::Status status = check_indexes(*select, *of_.builder); !status)
    return done(base::fail(std::move(status.error())));
  if (base::Status status = refresh_virtual(*plan); !status)
    return done(base::fail(std::move(status.error())));
  const bool by_index = !select->where->index_uses().empty() || select->nearest;
  done(paging_states_.run(plan->text, login, request, [&](const Request& opened) {
    if (!by_index) return execute::select(*plan, opened, of_.environment);
    return of_.schema_changes.read_between_drops([&]() -> base::Result<ResultSet> {
      SIBYL_ASSIGN(const PreparedPtr newest, of_.statements.renew(plan));
      return execute::select(*newest, opened, of_.environment);
    });
  }));
}

void Execution::run(const std::shared_ptr<const plan::Modification>&, const PreparedPtr& plan,
                    const Request& request, const auth::Login*, Completion done) {
  write(plan, request, std::move(done), {});
}

void Execution::run(const std::shared_ptr<const plan::Batch>&, const PreparedPtr& plan,
                    const Request& request, const auth::Login*, Completion done) {
  write(plan, request, std::move(done), {});
}

void Execution::run(const plan::Truncate& truncate, const PreparedPtr& plan, const Request& request,
                    const auth::Login*, Completion done) {
  const bool is_users = truncate.table->storage_id >= storage::PurgePolicy::first_table_id;
  if (of_.options.is_in_cluster() && is_users && !truncate.table->is_virtual)
    return done(truncate_in_cluster(*truncate.table));
  write(plan, request, std::move(done), {});
}

void Execution::run(const plan::Use& use, const PreparedPtr&, const Request&, const auth::Login*,
                    Completion done) {
  if (!of_.schema_changes.schema()->find_keyspace(use.keyspace))
    return done(base::invalid("Keyspace '" + use.keyspace + "' does not exist"));
  ResultSet result;
  result.kind = ResultSet::Kind::set_keyspace;
  result.keyspace = use.keyspace;
  done(std::move(result));
}

void Execution::run(const plan::Definition& definition, const PreparedPtr& plan, const Request&,
                    const auth::Login* login, Completion done) {
  done(define(*definition.statement, plan->keyspace, login));
}

void Execution::run(const plan::Describe& statement, const PreparedPtr& plan, const Request& request,
                    const auth::Login* login, Completion done) {
  done(paging_states_.run(plan->text, login, request, [&](const Request& opened) {
    return execute::run_interruptible(request.interrupt, [&] {
      return describe(std::get<cql::Describe>(statement.statement->node), plan->keyspace,
                      *of_.schema_changes.schema(), of_.system_tables.node(), opened);
    });
  }));
}

void Execution::run(const plan::Explain& explain, const PreparedPtr& plan, const Request&, const auth::Login*,
                    Completion done) {
  done(explain_result(explain, *plan));
}

// In a cluster, the server that holds the catalogue runs definitions. It releases the catalogue while the
// other servers read the change, because it may have to give the catalogue up meanwhile.
base::Result<ResultSet> Execution::define(const cql::Statement& statement, const std::string& keyspace,
                                          const auth::Login* login) {
  if (!of_.options.is_in_cluster()) {
    base::Result<ResultSet> result = define_here(statement, keyspace, login);
    if (result && needs_building(statement, *result)) wait_for_builds();
    return result;
  }
  auto hold = of_.environment.store.hold({});
  if (!hold) return base::fail(storage::not_here(0));
  const uint64_t roles = of_.roles.generation();
  const base::Bytes version = of_.schema_changes.schema()->version;
  base::Result<ResultSet> result = define_here(statement, keyspace, login);
  hold.reset();
  if (!result) return result;
  if (of_.roles.generation() != roles || of_.schema_changes.schema()->version != version)
    SIBYL_TRY(of_.announcements.announce());
  if (needs_building(statement, *result)) wait_for_builds();
  return result;
}

// The table gets new ids. Its records stay where they are, under ids that no statement uses any more.
base::Result<ResultSet> Execution::truncate_in_cluster(const schema::Table& table) {
  auto hold = of_.environment.store.hold({});
  if (!hold) return base::fail(storage::not_here(0));
  SIBYL_TRY(of_.schema_changes.truncate(table));
  hold.reset();
  SIBYL_TRY(of_.announcements.announce());
  return ResultSet();
}

// Lets builds of small tables finish before the response.
void Execution::wait_for_builds() {
  of_.builder->wake();
  of_.builder->wait(std::chrono::seconds(1));
}

base::Result<ResultSet> Execution::define_here(const cql::Statement& statement, const std::string& keyspace,
                                               const auth::Login* login) {
  if (plan::is_about_roles(statement))
    return run_role_statement(
        statement, of_.roles.requires_login() ? login : nullptr, keyspace,
        [this] { return of_.schema_changes.schema(); }, of_.roles, of_.options.data_center);
  return of_.schema_changes.define(statement, keyspace, login);
}

// Runs a write with a plan for the newest schema. Called again when the write has acquired locks that it
// had to wait for.
void Execution::write(const PreparedPtr& plan, const Request& request, Completion done,
                      execute::LockAttempt attempt) {
  const WriteGate::Pass pass = of_.gate.enter();
  base::Result<PreparedPtr> current = of_.statements.renew(plan);
  if (!current) return done(base::fail(std::move(current.error())));
  if (execute::try_write(**current, request, of_.environment, attempt, done)) return;
  wait_for_locks(std::move(attempt), lock_user(**current), request, std::move(done),
                 [this, plan, request](execute::LockAttempt with_locks, Completion then) mutable {
                   write(plan, request, std::move(then), std::move(with_locks));
                 });
}

void Execution::write_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                            const Request& request, Completion done, execute::LockAttempt attempt) {
  const WriteGate::Pass pass = of_.gate.enter();
  for (execute::BatchItem& item : items) {
    auto current = of_.statements.renew(item.statement);
    if (!current) return done(base::fail(std::move(current.error())));
    item.statement = std::move(*current);
  }
  std::shared_ptr<plan::QueryShape> usage =
      of_.options.statistics ? of_.usage.shape_of(kind, items) : nullptr;
  if (execute::try_batch(kind, items, request, of_.environment, std::move(usage), attempt, done)) return;
  const LockUser user = lock_user(items);
  wait_for_locks(std::move(attempt), user, request, std::move(done),
                 [this, kind, items = std::move(items), request](execute::LockAttempt with_locks,
                                                                 Completion then) mutable {
                   write_batch(kind, std::move(items), request, std::move(then), std::move(with_locks));
                 });
}

// Restarts a write on a thread of the lock manager once its locks are granted. The caller's thread is free
// in the meantime, so writes that wait for one partition do not block other requests.
template <typename Again>
void Execution::wait_for_locks(execute::LockAttempt attempt, LockUser user, const Request& request,
                               Completion done, Again again) {
  if (request.trace != nullptr) request.trace->step("Waiting for other writes to the same partitions");
  if (!attempt.deadline)
    attempt.deadline = std::chrono::steady_clock::now() + timeout_of(user, of_.options.lock_timeouts);
  execute::PartitionLocks::Stripes wanted = std::exchange(attempt.wanted, {});
  const auto deadline = *attempt.deadline;
  of_.environment.locks.acquire_later(
      std::move(wanted), deadline,
      [this, user, attempt = std::move(attempt), interrupt = request.interrupt, done = std::move(done),
       again = std::move(again)](std::optional<execute::PartitionLocks::Held> held,
                                 uint32_t contentions) mutable {
        if (!held) return done(base::fail(lock_timeout_error(user, of_.options.lock_timeouts, contentions)));
        attempt.held = std::move(*held);
        run_guarded(std::move(done), [&](Completion then) {
          base::Status wanted_still = interrupt != nullptr ? interrupt->check() : base::Status();
          if (!wanted_still) return then(base::fail(std::move(wanted_still.error())));
          again(std::move(attempt), std::move(then));
        });
      });
}

}  // namespace sibyl::engine
