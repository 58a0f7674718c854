#include "plan/definitions/keyspaces.h"

#include <fmt/format.h>

#include "plan/definitions/functions.h"
#include "plan/options/options.h"
#include "plan/options/replication.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;

namespace {

// Reads WITH of a keyspace, with checks in Cassandra's order.
struct KeyspaceProperties {
  std::optional<OptionMap> replication;
  std::optional<bool> durable_writes;

  static base::Result<KeyspaceProperties> of(const cql::Properties& properties) {
    SIBYL_ASSIGN(PropertySet set, PropertySet::of(properties));
    SIBYL_TRY(set.check_known({"replication", "durable_writes"}));
    KeyspaceProperties out;
    SIBYL_ASSIGN(out.replication, set.map("replication"));
    if (out.replication && !out.replication->contains("class"))
      return base::fail(ErrorCode::config, "Missing replication strategy class");
    SIBYL_ASSIGN(out.durable_writes, set.boolean("durable_writes"));
    return out;
  }
};

}  // namespace

base::Result<DefinitionResult> define_keyspace(const cql::CreateKeyspace& statement, Draft& draft) {
  SIBYL_TRY(draft.check_may_change(statement.name, "CREATE", fmt::format("<keyspace {}>", statement.name)));
  SIBYL_ASSIGN(KeyspaceProperties properties, KeyspaceProperties::of(statement.properties));
  if (!properties.replication) return base::invalid("Missing mandatory option 'replication'");
  if (draft.schema().find_keyspace(statement.name)) {
    if (statement.if_not_exists) return draft.unchanged();
    base::ErrorDetails details;
    details.code = ErrorCode::already_exists;
    details.message = fmt::format("Cannot add existing keyspace \"{}\"", statement.name);
    details.keyspace = statement.name;
    return base::fail(base::Error(std::move(details)));
  }
  auto keyspace = std::make_shared<schema::Keyspace>();
  keyspace->name = statement.name;
  keyspace->durable_writes = properties.durable_writes.value_or(true);
  SIBYL_ASSIGN(keyspace->replication, read_replication(statement.name, *properties.replication, {},
                                                       draft.context().datacenter, draft.warnings));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::created, Change::Target::keyspace, statement.name, ""));
}

base::Result<DefinitionResult> define_keyspace(const cql::AlterKeyspace& statement, Draft& draft) {
  SIBYL_TRY(draft.check_may_change(statement.name, "ALTER", fmt::format("<keyspace {}>", statement.name)));
  SIBYL_ASSIGN(KeyspaceProperties properties, KeyspaceProperties::of(statement.properties));
  schema::KeyspacePtr old = draft.schema().find_keyspace(statement.name);
  if (!old) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Keyspace '{}' doesn't exist", statement.name));
  }
  auto keyspace = draft.change(*old);
  keyspace->durable_writes = properties.durable_writes.value_or(old->durable_writes);
  if (properties.replication) {
    SIBYL_ASSIGN(keyspace->replication,
                 read_replication(statement.name, *properties.replication, old->replication,
                                  draft.context().datacenter, draft.warnings));
  }
  if (keyspace->durable_writes == old->durable_writes && keyspace->replication == old->replication)
    return draft.unchanged();
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::keyspace, statement.name, ""));
}

base::Result<DefinitionResult> define_keyspace(const cql::DropKeyspace& statement, Draft& draft) {
  SIBYL_TRY(draft.check_may_change(statement.name, "DROP", fmt::format("<keyspace {}>", statement.name)));
  schema::KeyspacePtr old = draft.schema().find_keyspace(statement.name);
  if (!old) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Keyspace '{}' doesn't exist", statement.name));
  }
  for (const auto& [signature, aggregate] : old->aggregates)
    draft.further_changes.push_back(function_change(Change::Kind::dropped, *aggregate));
  for (const auto& [signature, function] : old->functions)
    draft.further_changes.push_back(function_change(Change::Kind::dropped, *function));
  for (const auto& [name, view] : old->views) {
    draft.dropped_storage_ids.push_back(view->storage_id);
    draft.further_changes.push_back(
        change_of(Change::Kind::dropped, Change::Target::table, statement.name, name));
  }
  for (const auto& [name, table] : old->tables) {
    draft.dropped_storage_ids.push_back(table->storage_id);
    for (const schema::Index& index : table->indexes) draft.dropped_storage_ids.push_back(index.storage_id);
    draft.further_changes.push_back(
        change_of(Change::Kind::dropped, Change::Target::table, statement.name, name));
  }
  for (const auto& [name, type] : old->types)
    draft.further_changes.push_back(
        change_of(Change::Kind::dropped, Change::Target::type, statement.name, name));
  return draft.without(statement.name,
                       change_of(Change::Kind::dropped, Change::Target::keyspace, statement.name, ""));
}

}  // namespace sibyl::plan
