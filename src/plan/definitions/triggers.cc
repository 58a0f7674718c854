#include "plan/definitions/triggers.h"

#include <fmt/format.h>

#include "plan/definitions/draft.h"

namespace sibyl::plan {
namespace {

base::Status check_keyspace(const std::string& name, const Draft& draft) {
  const schema::KeyspacePtr keyspace = draft.schema().find_keyspace(name);
  if (keyspace && keyspace->is_system)
    return base::invalid(fmt::format("System keyspace '{}' is not user-modifiable", name));
  return {};
}

}  // namespace

base::Result<DefinitionResult> define_trigger(const cql::CreateTrigger& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace, draft.keyspace_name(statement.table));
  SIBYL_TRY(check_keyspace(keyspace, draft));
  if (!draft.schema().find_keyspace(keyspace))
    return base::invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace));
  if (!draft.schema().find_table(keyspace, statement.table.name))
    return base::invalid(fmt::format("Table '{}' doesn't exist", statement.table.name));
  return base::fail(
      base::Error(base::ErrorCode::invalid,
                  fmt::format("Trigger class '{}' couldn't be loaded", statement.class_name))
          .with_hint("triggers are Java classes, which this server cannot run; do the writes of the trigger "
                     "in the same BATCH"));
}

base::Result<DefinitionResult> define_trigger(const cql::DropTrigger& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace, draft.keyspace_name(statement.table));
  SIBYL_TRY(check_keyspace(keyspace, draft));
  if (statement.if_exists) return draft.unchanged();
  return base::invalid(
      fmt::format("Trigger '{}' on '{}.{}' doesn't exist", statement.name, keyspace, statement.table.name));
}

}  // namespace sibyl::plan
