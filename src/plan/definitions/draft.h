// A definition in progress, shared by all kinds of definitions. Internal to src/plan/definitions.
#pragma once

#include <memory>
#include <string>

#include "plan/definitions/definitions.h"

namespace sibyl::plan {

// One definition in progress: the schema before it, and the changes so far.
class Draft {
 public:
  Draft(schema::SnapshotPtr before, const DefinitionContext& context)
      : before_(std::move(before)), context_(context) {}

  const schema::Snapshot& schema() const { return *before_; }
  const DefinitionContext& context() const { return context_; }

  // Returns the keyspace that is written in the name, or else the session's.
  base::Result<std::string> keyspace_name(const cql::QualifiedName& name) const;

  // Refuses system keyspaces, and names that no keyspace can have. `action` is CREATE, ALTER or DROP;
  // `resource` is Cassandra's name of the object (<table ks.t>).
  base::Status check_may_change(const std::string& keyspace, const char* action,
                                const std::string& resource) const;

  // Returns a copy to change, so that the old snapshot stays unchanged.
  std::shared_ptr<schema::Keyspace> change(const schema::Keyspace& keyspace) const {
    return std::make_shared<schema::Keyspace>(keyspace);
  }

  // Returns a storage id that no table has ever had.
  uint32_t new_storage_id() { return before_->next_storage_id + used_storage_ids_++; }

  DefinitionResult unchanged() { return {before_, {}, {}, std::move(warnings)}; }
  // The next schema, in which this keyspace is new or changed.
  DefinitionResult with(std::shared_ptr<schema::Keyspace> keyspace, schema::Change change);
  DefinitionResult without(const std::string& keyspace, schema::Change change);

  // Warns about options that have no effect, if an application may rely on them. `before`: nullptr for a new
  // table.
  void warn_about_options(const schema::TableOptions& options, const schema::TableOptions* before);

  std::vector<std::string> warnings;
  std::vector<schema::Change> further_changes;
  std::vector<uint32_t> dropped_storage_ids;

 private:
  std::shared_ptr<schema::Snapshot> next() const;
  DefinitionResult finish(std::shared_ptr<schema::Snapshot> next, schema::Change change);

  schema::SnapshotPtr before_;
  const DefinitionContext& context_;
  uint32_t used_storage_ids_ = 0;
};

inline schema::Change change_of(schema::Change::Kind kind, schema::Change::Target target,
                                std::string keyspace, std::string name) {
  return {kind, target, std::move(keyspace), std::move(name), {}};
}

}  // namespace sibyl::plan
