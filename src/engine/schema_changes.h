// Changes the schema: one definition at a time becomes durable, then visible, and is then reported to
// listeners.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "auth/login.h"
#include "base/mutex.h"
#include "base/result.h"
#include "cql/ast.h"
#include "engine/catalogue/catalogue.h"
#include "engine/options.h"
#include "engine/prepared/statements.h"
#include "engine/roles/roles.h"
#include "engine/schema_source.h"
#include "engine/statistics/usage.h"
#include "engine/system_tables/system_tables.h"
#include "execute/environment.h"
#include "execute/result_set.h"
#include "plan/definitions/definitions.h"

namespace sibyl::engine {

// Thread-safe.
class SchemaChanges final : public SchemaSource {
 public:
  // Everything that depends on the schema. Borrowed.
  struct Dependents {
    const Options& options;
    execute::TimestampSource& timestamps;
    Roles& roles;
    SystemTables& system_tables;
    execute::VectorIndexes& vectors;
    Usage& usage;
    Statements& statements;
  };
  SchemaChanges(Catalogue catalogue, const Dependents& dependents)
      : catalogue_(std::move(catalogue)), of_(dependents) {}

  schema::SnapshotPtr schema() const override { return of_.statements.schema(); }
  uint64_t subscribe(Listener listener) override;
  void unsubscribe(uint64_t token) override;

  // Runs a definition, except one about roles. `login` is the creator; nullptr: the program itself.
  base::Result<execute::ResultSet> define(const cql::Statement& statement, const std::string& keyspace,
                                          const auth::Login* login);
  // Called when an index or view is complete. Queries may use it from now on.
  base::Status finish_building(uint32_t storage_id);

  // --- In a cluster

  // Gives a table, its indexes and views new, empty storage. REQUIRES: the table is not a view.
  base::Status truncate(const schema::Table& table);
  // Uses the newest durable schema of another server. Returns true if it was not known yet. Dropped records
  // stay readable until settle().
  base::Result<bool> reload();
  // Declares that every server uses this version of the schema or a newer one.
  void settle(const base::Bytes& version);

  // Calls `read` until no records were dropped while it ran. For reads through an index: if the index was
  // dropped after planning or during the read, its entries are gone, so rows may be missing.
  template <typename Read>
  auto read_between_drops(Read read) {
    while (true) {
      const uint64_t drops = drops_.load(std::memory_order_seq_cst);
      if (drops % 2 != 0) {  // a drop is in progress
        const base::MutexLock until_it_is_published(mutex_);
        continue;
      }
      auto result = read();
      if (drops_.load(std::memory_order_seq_cst) == drops) return result;
    }
  }

 private:
  base::Status refresh();
  base::Status apply(const plan::DefinitionResult& made, const schema::Snapshot& before,
                     const auth::Login* login);
  void publish(const schema::Snapshot& before);
  void notify(const std::vector<schema::Change>& changes);

  base::Mutex mutex_;    // one definition at a time
  Catalogue catalogue_;  // guarded by mutex_
  const Dependents of_;
  // Incremented when a drop of records starts and when it ends. Odd during a drop.
  std::atomic<uint64_t> drops_ = 0;
  base::Mutex listeners_mutex_;
  std::map<uint64_t, Listener> listeners_ SIBYL_GUARDED_BY(listeners_mutex_);
  uint64_t last_token_ SIBYL_GUARDED_BY(listeners_mutex_) = 0;
};

}  // namespace sibyl::engine
