// Runs statements: checks permissions and guardrails, and calls the execution that fits the plan.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/announcements.h"
#include "engine/builds/builder.h"
#include "engine/executor.h"
#include "engine/lock_waits.h"
#include "engine/maintenance/disk_usage.h"
#include "engine/options.h"
#include "engine/prepared/paging_states.h"
#include "engine/prepared/statements.h"
#include "engine/roles/permissions.h"
#include "engine/roles/roles.h"
#include "engine/schema_changes.h"
#include "engine/statistics/usage.h"
#include "engine/system_tables/system_tables.h"
#include "engine/write_gate.h"
#include "execute/write/batch.h"
#include "execute/write/locks.h"
#include "execute/write/try_write.h"

namespace sibyl::engine {

class Execution final : public Executor {
 public:
  // Borrowed.
  struct Parts {
    const Options& options;
    execute::Environment& environment;
    Roles& roles;
    SystemTables& system_tables;
    Usage& usage;
    Statements& statements;
    SchemaChanges& schema_changes;
    WriteGate& gate;
    Announcements& announcements;
    std::optional<Builder>& builder;  // set before the first execution
  };
  Execution(SealingKey paging_key, const Parts& parts);

  void execute_as(const auth::Login* login, plan::PreparedPtr plan, const execute::Request& request,
                  execute::Completion done) override;
  void execute_relayed(const base::Bytes& host_id, const auth::Login* login, plan::PreparedPtr plan,
                       const execute::Request& request, execute::Completion done) override;
  void execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                        std::vector<execute::BatchItem> items, const execute::Request& request,
                        execute::Completion done) override;
  std::chrono::microseconds sync_time() const override { return of_.environment.store.sync_time(); }

 private:
  const char* committed() const;
  base::Status check_permission(const plan::PreparedPtr& plan, const auth::Login* login) const;
  bool hides(const std::vector<schema::TablePtr>& tables, const auth::Login* login) const;
  base::Status refresh_virtual(const plan::Prepared& plan);

  // --- One function per kind of plan.
  void run(const std::shared_ptr<const plan::Select>& select, const plan::PreparedPtr& plan,
           const execute::Request& request, const auth::Login* login, execute::Completion done);
  void run(const std::shared_ptr<const plan::Modification>&, const plan::PreparedPtr& plan,
           const execute::Request& request, const auth::Login*, execute::Completion done);
  void run(const std::shared_ptr<const plan::Batch>&, const plan::PreparedPtr& plan,
           const execute::Request& request, const auth::Login*, execute::Completion done);
  void run(const plan::Truncate&, const plan::PreparedPtr& plan, const execute::Request& request,
           const auth::Login*, execute::Completion done);
  void run(const plan::Use& use, const plan::PreparedPtr&, const execute::Request&, const auth::Login*,
           execute::Completion done);
  void run(const plan::Definition& definition, const plan::PreparedPtr& plan, const execute::Request&,
           const auth::Login* login, execute::Completion done);
  void run(const plan::Describe& statement, const plan::PreparedPtr& plan, const execute::Request& request,
           const auth::Login* login, execute::Completion done);
  void run(const plan::Explain& explain, const plan::PreparedPtr& plan, const execute::Request&,
           const auth::Login*, execute::Completion done);

  base::Result<execute::ResultSet> define(const cql::Statement& statement, const std::string& keyspace,
                                          const auth::Login* login);
  base::Result<execute::ResultSet> define_here(const cql::Statement& statement, const std::string& keyspace,
                                               const auth::Login* login);
  base::Result<execute::ResultSet> truncate_in_cluster(const schema::Table& table);
  void wait_for_builds();
  void write(const plan::PreparedPtr& plan, const execute::Request& request, execute::Completion done,
             execute::LockAttempt attempt);
  void write_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                   const execute::Request& request, execute::Completion done, execute::LockAttempt attempt);
  template <typename Again>
  void wait_for_locks(execute::LockAttempt attempt, LockUser user, const execute::Request& request,
                      execute::Completion done, Again again);

  const Parts of_;
  const PagingStates paging_states_;
  const PermissionCheck permissions_;
  DiskUsage disk_usage_;
};

}  // namespace sibyl::engine
