#include "engine/schema_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/mutex.h"
#include "base/statement.h"
#include "engine/builds/builder.h"
#include "engine/catalogue/schema_difference.h"
#include "execute/vector/vector_indexes.h"
#include "schema/storage_ids.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;

// Marks in a counter that records are being dropped: from before the drop starts until the new schema is
// published. nullptr: nothing is dropped.
class Dropping {
 public:
  explicit Dropping(std::atomic<uint64_t>* drops) : drops_(drops) { count(); }
  ~Dropping() { count(); }
  Dropping(const Dropping&) = delete;
  Dropping& operator=(const Dropping&) = delete;

 private:
  void count() const {
    if (drops_ != nullptr) drops_->fetch_add(1, std::memory_order_seq_cst);
  }
  std::atomic<uint64_t>* const drops_;
};

// As drivers expect, a dropped keyspace is reported after its contents.
std::vector<schema::Change> in_order_of_events(std::vector<schema::Change> changes) {
  if (!changes.empty() && changes.front().target == schema::Change::Target::keyspace)
    std::rotate(changes.begin(), changes.begin() + 1, changes.end());
  return changes;
}

}  // namespace

uint64_t SchemaChanges::subscribe(Listener listener) {
  const base::MutexLock lock(listeners_mutex_);
  listeners_[++last_token_] = std::move(listener);
  return last_token_;
}

void SchemaChanges::unsubscribe(uint64_t token) {
  const base::MutexLock lock(listeners_mutex_);
  listeners_.erase(token);
}

base::Result<ResultSet> SchemaChanges::define(const cql::Statement& statement, const std::string& keyspace,
                                              const auth::Login* login) {
  const base::MutexLock lock(mutex_);
  SIBYL_TRY(refresh());
  schema::SnapshotPtr before = catalogue_.schema();
  SIBYL_ASSIGN(plan::DefinitionResult made, base::run_statement(nullptr, [&] {
                 return plan::define(statement, before,
                                     {.keyspace = keyspace,
                                      .now_micros = of_.timestamps.next(),
                                      .guardrails = &of_.options.guardrails,
                                      .masks_columns = of_.options.dynamic_data_masking,
                                      .datacenter = of_.options.data_center});
               }));
  ResultSet result;
  result.warnings = std::move(made.warnings);
  if (made.schema == before) return result;
  SIBYL_TRY(apply(made, *before, login));
  if (!made.dropped_storage_ids.empty()) of_.usage.forget_dropped(*catalogue_.schema());
  notify(in_order_of_events(made.changes));
  if (!made.changes.empty()) {
    result.kind = ResultSet::Kind::schema_change;
    result.change = made.changes.front();
  }
  return result;
}

// Permissions change in the same commit, so that a definition is never applied partially and no permission
// outlives its resource.
base::Status SchemaChanges::apply(const plan::DefinitionResult& made, const schema::Snapshot& before,
                                  const auth::Login* login) {
  const auth::Login* creator = of_.roles.checks_permissions() ? login : nullptr;
  return of_.roles.change(
      permission_change_for(made.changes, *made.schema, creator),
      [&](storage::WriteSet permissions) -> base::Status {
        const Dropping dropping(made.dropped_storage_ids.empty() ? nullptr : &drops_);
        SIBYL_TRY(catalogue_.change(*made.schema, made.dropped_storage_ids, std::move(permissions)));
        publish(before);
        return {};
      });
}

base::Status SchemaChanges::finish_building(uint32_t storage_id) {
  const base::MutexLock lock(mutex_);
  SIBYL_TRY(refresh());
  schema::SnapshotPtr before = catalogue_.schema();
  schema::SnapshotPtr next = with_built(*before, storage_id);
  if (!next) return {};
  SIBYL_TRY(catalogue_.change(*next, {}));
  publish(*before);
  return {};
}

base::Status SchemaChanges::truncate(const schema::Table& table) {
  const base::MutexLock lock(mutex_);
  SIBYL_TRY(refresh());
  const schema::SnapshotPtr before = catalogue_.schema();
  const schema::TablePtr current = before->find_table(table.keyspace, table.name);
  if (!current || current->id != table.id)
    return base::invalid(fmt::format("table {} does not exist", table.name));
  std::vector<uint32_t> dropped;
  const schema::SnapshotPtr next = schema::with_new_storage(*before, *current, dropped);
  const Dropping dropping(&drops_);
  SIBYL_TRY(catalogue_.change(*next, dropped));
  publish(*before);
  of_.usage.forget_dropped(*catalogue_.schema());
  return {};
}

base::Result<bool> SchemaChanges::reload() {
  const base::MutexLock lock(mutex_);
  const schema::SnapshotPtr before = catalogue_.schema();
  SIBYL_TRY(refresh());
  return catalogue_.schema() != before;
}

void SchemaChanges::settle(const base::Bytes& version) {
  const base::MutexLock lock(mutex_);
  catalogue_.settle(version);
}

// In a cluster, another server may have changed the catalogue. A single server already knows the newest one.
base::Status SchemaChanges::refresh() {
  if (!of_.options.is_in_cluster()) return {};
  const schema::SnapshotPtr before = catalogue_.schema();
  SIBYL_ASSIGN(const bool changed, catalogue_.refresh());
  if (!changed) return {};
  // The dropped records still exist. But reads that began before the drop must notice it now, not at
  // settle().
  const Dropping dropping(&drops_);
  publish(*before);
  of_.usage.forget_dropped(*catalogue_.schema());
  notify(changes_between(*before, *catalogue_.schema()));
  return {};
}

// Publishes the schema of the catalogue.
void SchemaChanges::publish(const schema::Snapshot& before) {
  const schema::SnapshotPtr after = catalogue_.schema();
  // The rows are in memory, so this cannot fail.
  SIBYL_CHECK(of_.system_tables.show_schema(&before, *after).has_value());
  if (schema::indexes_differ(before, *after)) of_.vectors.watch(schema::vector_index_ids(*after));
  of_.statements.set_schema(after);
}

void SchemaChanges::notify(const std::vector<schema::Change>& changes) {
  const base::MutexLock lock(listeners_mutex_);
  for (const schema::Change& change : changes)
    for (const auto& [token, listener] : listeners_) listener(change);
}

}  // namespace sibyl::engine
