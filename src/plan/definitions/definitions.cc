#include "plan/definitions/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "plan/definitions/internal.h"
#include "plan/guardrails_check.h"
#include "plan/naming_hints.h"
#include "plan/options/options.h"
#include "types/value.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;

namespace {

// Cassandra's replicated system keyspaces: users may alter them, but may not drop them or create tables in
// them.
constexpr std::array<std::string_view, 3> replicated_system_keyspaces = {"system_auth", "system_distributed",
                                                                         "system_traces"};
constexpr std::array<std::string_view, 4> local_system_keyspaces = {"system", "system_schema", "system_views",
                                                                    "system_virtual_schema"};

template <size_t size>
bool contains(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

base::Status check_keyspace_name(const std::string& name) {
  if (!is_plain_name(name)) {
    return base::invalid(
        fmt::format("Keyspace name must not be empty and must contain alphanumeric or underscore characters "
                    "only (got \"{}\")",
                    name));
  }
  if (name.size() > max_name_length) {
    return base::invalid(
        fmt::format("Keyspace name must not be more than {} characters long (got {} characters for \"{}\")",
                    max_name_length, name.size(), name));
  }
  return {};
}

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

struct Definer {
  Draft& draft;

  template <typename Statement>
  base::Result<DefinitionResult> operator()(const Statement& statement) const {
    if constexpr (requires { define_keyspace(statement, draft); }) return define_keyspace(statement, draft);
    if constexpr (requires { define_table(statement, draft); }) return define_table(statement, draft);
    if constexpr (requires { define_view(statement, draft); }) return define_view(statement, draft);
    if constexpr (requires { define_type(statement, draft); }) return define_type(statement, draft);
    if constexpr (requires { define_trigger(statement, draft); }) return define_trigger(statement, draft);
    if constexpr (requires { define_index(statement, draft); }) return define_index(statement, draft);
    if constexpr (requires { define_function(statement, draft); }) return define_function(statement, draft);
    return base::invalid("This statement does not change the schema");
  }
};

}  // namespace

base::Result<std::string> Draft::keyspace_name(const cql::QualifiedName& name) const {
  if (!name.keyspace.empty()) return name.keyspace;
  if (!context_.keyspace.empty()) return context_.keyspace;
  return base::invalid(
      "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename");
}

base::Status Draft::check_may_change(const std::string& keyspace, const char* action,
                                     const std::string& resource) const {
  const std::string folded = base::ascii_lower(keyspace);
  const bool replicated = contains(replicated_system_keyspaces, keyspace);
  schema::KeyspacePtr found = before_->find_keyspace(keyspace);
  const bool local = contains(local_system_keyspaces, folded) || (found && found->is_system && !replicated);
  const bool is_keyspace = resource.starts_with("<keyspace ");
  if (local) {
    if (is_keyspace && std::string_view(action) == "CREATE")
      return base::invalid(fmt::format("System keyspace '{}' is not user-modifiable", keyspace));
    return base::fail(ErrorCode::unauthorized, fmt::format("{} keyspace is not user-modifiable.", keyspace));
  }
  if (replicated && found) {
    const std::string_view verb = action;
    const bool may = is_keyspace && verb != "DROP";
    if (!may) return base::fail(ErrorCode::unauthorized, fmt::format("Cannot {} {}", action, resource));
  }
  return check_keyspace_name(keyspace);
}

std::shared_ptr<schema::Snapshot> Draft::next() const {
  auto next = std::make_shared<schema::Snapshot>(*before_);
  next->version = types::random_uuid();
  next->next_storage_id = before_->next_storage_id + used_storage_ids_;
  return next;
}

DefinitionResult Draft::finish(std::shared_ptr<schema::Snapshot> next, Change change) {
  DefinitionResult result;
  result.schema = std::move(next);
  result.changes.push_back(std::move(change));
  for (Change& further : further_changes) result.changes.push_back(std::move(further));
  result.dropped_storage_ids = std::move(dropped_storage_ids);
  result.warnings = std::move(warnings);
  return result;
}

void Draft::warn_about_options(const schema::TableOptions& options, const schema::TableOptions* before) {
  if (options.cdc && !(before && before->cdc))
    warnings.emplace_back(
        "cdc has no effect: Sibyl writes no change log. The option is stored, and DESCRIBE shows it.");
}

DefinitionResult Draft::with(std::shared_ptr<schema::Keyspace> keyspace, Change change) {
  auto snapshot = next();
  const std::string name = keyspace->name;
  snapshot->keyspaces.insert_or_assign(name, std::move(keyspace));
  return finish(std::move(snapshot), std::move(change));
}

DefinitionResult Draft::without(const std::string& keyspace, Change change) {
  auto snapshot = next();
  snapshot->keyspaces.erase(keyspace);
  return finish(std::move(snapshot), std::move(change));
}

base::Status check_masking(const DefinitionContext& context) {
  if (context.masks_columns) return {};
  return base::invalid(
      "Cannot mask columns because dynamic data masking is not enabled. You can enable it with the "
      "dynamic_data_masking_enabled property on cassandra.yaml");
}

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

base::Result<DefinitionResult> define(const cql::Statement& statement, const schema::SnapshotPtr& schema,
                                      const DefinitionContext& context) {
  Draft draft(schema, context);
  base::Result<DefinitionResult> defined = std::visit(Definer{draft}, statement.node);
  if (!defined)
    return base::fail(
        with_naming_hint(defined.error(), statement, {*schema, context.keyspace, context.datacenter}));
  DefinitionResult result = std::move(*defined);
  if (result.schema != schema)
    SIBYL_TRY(check_definition(statement, *schema, result, *context.guardrails, result.warnings));
  return result;
}

}  // namespace sibyl::plan
