#include "plan/guardrails_check.h"

#include <fmt/format.h>

#include <charconv>

#include "plan/statements/modify.h"

namespace sibyl::plan {
namespace {

using Warnings = std::vector<std::string>;

// --- Statements

bool reads_list(const Operation& operation) {
  return operation.reads_first() && operation.column->type->kind() == types::Kind::list;
}

struct StatementChecker {
  const Prepared& prepared;
  const Guardrails& guardrails;
  Warnings& warnings;

  base::Status operator()(const cql::Select& select) const {
    if (!select.group_by.empty()) SIBYL_TRY(guard(guardrails, group_by_guard, warnings));
    if (select.allow_filtering) SIBYL_TRY(guard(guardrails, allow_filtering_guard, warnings));
    return {};
  }
  base::Status operator()(const cql::Insert& insert) const { return modification(insert.attributes); }
  base::Status operator()(const cql::Update& update) const { return modification(update.attributes); }
  base::Status operator()(const cql::Delete& statement) const { return modification(statement.attributes); }
  base::Status operator()(const cql::Batch& batch) const {
    const Batch& plan = *std::get<std::shared_ptr<const Batch>>(prepared.plan);
    if (batch.attributes.timestamp) SIBYL_TRY(guard(guardrails, user_timestamps_guard, warnings));
    for (const auto& statement : plan.statements) {
      if (statement->attributes.timestamp) SIBYL_TRY(guard(guardrails, user_timestamps_guard, warnings));
      SIBYL_TRY(list_reads(*statement));
    }
    return {};
  }
  base::Status operator()(const cql::Truncate&) const {
    return guard(guardrails, drop_truncate_guard, warnings);
  }
  template <typename Other>
  base::Status operator()(const Other&) const {
    return {};
  }

 private:
  base::Status modification(const cql::Attributes& attributes) const {
    if (attributes.timestamp) SIBYL_TRY(guard(guardrails, user_timestamps_guard, warnings));
    return list_reads(*std::get<std::shared_ptr<const Modification>>(prepared.plan));
  }
  base::Status list_reads(const Modification& plan) const {
    for (const auto* operations : {&plan.static_operations, &plan.row_operations})
      for (const Operation& operation : *operations)
        if (reads_list(operation)) SIBYL_TRY(guard(guardrails, list_reads_guard, warnings));
    return {};
  }
};

// --- Definitions

size_t user_keyspaces(const schema::Snapshot& schema) {
  size_t count = 0;
  for (const auto& [name, keyspace] : schema.keyspaces) count += keyspace->is_system ? 0 : 1;
  return count;
}

size_t user_tables(const schema::Snapshot& schema) {
  size_t count = 0;
  for (const auto& [name, keyspace] : schema.keyspaces)
    if (!keyspace->is_system) count += keyspace->tables.size();
  return count;
}

base::Status check_replication(const schema::Keyspace& keyspace, const Guardrails& guardrails,
                               Warnings& warnings) {
  for (const auto& [name, value] : keyspace.replication) {
    if (name == "class") continue;
    int32_t factor = 0;
    std::from_chars(value.data(), value.data() + value.size(), factor);
    SIBYL_TRY(guard(guardrails, minimum_replication_guard, factor, keyspace.name, warnings));
    SIBYL_TRY(guard(guardrails, maximum_replication_guard, factor, keyspace.name, warnings));
  }
  return {};
}

bool names_simple_strategy(const cql::Properties& properties) {
  for (const cql::Property& property : properties) {
    const auto* map = std::get_if<std::vector<std::pair<std::string, std::string>>>(&property.value);
    if (property.name != "replication" || map == nullptr) continue;
    for (const auto& [key, value] : *map)
      if (key == "class" && value == "SimpleStrategy") return true;
  }
  return false;
}

// Like Cassandra, considers only the statement's own properties, even for ALTER.
bool is_window_without_ttl(const cql::Properties& properties) {
  bool has_window = false, has_ttl = false;
  for (const cql::Property& property : properties) {
    if (const auto* text = std::get_if<std::string>(&property.value)) {
      has_ttl = has_ttl || (property.name == "default_time_to_live" && *text != "0");
    } else if (property.name == "compaction") {
      for (const auto& [key, value] : std::get<1>(property.value))
        has_window = has_window || (key == "class" && value.ends_with("TimeWindowCompactionStrategy"));
    }
  }
  return has_window && !has_ttl;
}

base::Status check_type(const types::Type& type, const std::string& what, const Guardrails& guardrails,
                        Warnings& warnings) {
  if (type.kind() == types::Kind::vector) {
    FeatureGuard feature = vector_type_guard;
    feature.feature = what.c_str();
    SIBYL_TRY(guard(guardrails, feature, warnings));
    SIBYL_TRY(guard(guardrails, dimensions_guard, type.dimension(), what, warnings));
  }
  for (const types::TypePtr& parameter : type.parameters())
    SIBYL_TRY(check_type(*parameter, what, guardrails, warnings));
  return {};
}

struct DefinitionChecker {
  const schema::Snapshot& before;
  const DefinitionResult& result;
  const Guardrails& guardrails;
  Warnings& warnings;

  base::Status operator()(const cql::CreateKeyspace& statement) const {
    if (names_simple_strategy(statement.properties))
      SIBYL_TRY(guard(guardrails, simplestrategy_guard, warnings));
    SIBYL_TRY(guard(guardrails, keyspaces_guard, static_cast<int64_t>(user_keyspaces(*result.schema)),
                    statement.name, warnings));
    return check_replication(*result.schema->find_keyspace(statement.name), guardrails, warnings);
  }
  base::Status operator()(const cql::AlterKeyspace& statement) const {
    if (names_simple_strategy(statement.properties))
      SIBYL_TRY(guard(guardrails, simplestrategy_guard, warnings));
    return check_replication(*result.schema->find_keyspace(statement.name), guardrails, warnings);
  }
  base::Status operator()(const cql::DropKeyspace&) const {
    return guard(guardrails, drop_keyspace_guard, warnings);
  }
  base::Status operator()(const cql::CreateTable& statement) const {
    const schema::Table& table = *changed_table();
    SIBYL_TRY(properties(statement.properties));
    SIBYL_TRY(columns(table));
    SIBYL_TRY(guard(guardrails, tables_guard, static_cast<int64_t>(user_tables(*result.schema)), table.name,
                    warnings));
    for (const schema::Column& column : table.columns)
      SIBYL_TRY(check_type(*column.type, "Column " + column.name, guardrails, warnings));
    return compression(table);
  }
  base::Status operator()(const cql::AlterTable& statement) const {
    const schema::Table& table = *changed_table();
    if (const auto* with = std::get_if<cql::AlterTable::With>(&statement.action)) {
      SIBYL_TRY(properties(with->properties));
      return compression(table);
    }
    FeatureGuard alter = alter_table_guard;
    alter.feature = "ALTER TABLE changing columns";
    SIBYL_TRY(guard(guardrails, alter, warnings));
    if (const auto* add = std::get_if<cql::AlterTable::Add>(&statement.action)) {
      SIBYL_TRY(columns(table));
      for (const cql::ColumnDefinition& added : add->columns)
        if (const schema::Column* column = table.find(added.name))
          SIBYL_TRY(check_type(*column->type, "Column " + column->name, guardrails, warnings));
    }
    return {};
  }
  base::Status operator()(const cql::DropTable&) const {
    return guard(guardrails, drop_truncate_guard, warnings);
  }
  base::Status operator()(const cql::CreateIndex& statement) const {
    SIBYL_TRY(guard(guardrails, secondary_index_guard, warnings));
    return guard(guardrails, indexes_guard, static_cast<int64_t>(changed_table()->indexes.size()),
                 statement.name, warnings);
  }
  base::Status operator()(const cql::CreateView& statement) const {
    const schema::TablePtr view = changed_table();
    const schema::TablePtr base = result.schema->find_table(view->keyspace, view->view->base_table);
    return guard(guardrails, views_guard, static_cast<int64_t>(base->views.size()), statement.view.name,
                 warnings);
  }
  base::Status operator()(const cql::CreateType&) const { return type_fields(); }
  base::Status operator()(const cql::AlterType&) const { return type_fields(); }
  template <typename Other>
  base::Status operator()(const Other&) const {
    return {};
  }

 private:
  schema::TablePtr changed_table() const {
    return result.schema->find_table(result.changes[0].keyspace, result.changes[0].name);
  }
  base::Status columns(const schema::Table& table) const {
    return guard(guardrails, columns_guard, static_cast<int64_t>(table.columns.size()), table.name, warnings);
  }
  base::Status compression(const schema::Table& table) const {
    const auto enabled = table.options.compression.find("enabled");
    const bool off = table.options.compression.empty() ||
                     (enabled != table.options.compression.end() && enabled->second == "false");
    return off ? guard(guardrails, uncompressed_guard, warnings) : base::Status();
  }
  base::Status properties(const cql::Properties& given) const {
    std::set<std::string> names;
    for (const cql::Property& property : given) names.insert(property.name);
    SIBYL_TRY(guard(guardrails, table_properties_guard, names, warnings));
    return is_window_without_ttl(given) ? guard(guardrails, zero_ttl_guard, warnings) : base::Status();
  }
  base::Status type_fields() const {
    const schema::KeyspacePtr keyspace = result.schema->find_keyspace(result.changes[0].keyspace);
    const schema::UserTypePtr type = keyspace->find_type(result.changes[0].name);
    SIBYL_TRY(guard(guardrails, fields_guard, static_cast<int64_t>(type->field_names.size()), type->name,
                    warnings));
    for (size_t i = 0; i < type->field_types.size(); ++i)
      SIBYL_TRY(check_type(*type->field_types[i], "Field " + type->field_names[i], guardrails, warnings));
    return {};
  }
};

}  // namespace

base::Status check_statement(const cql::Statement& statement, const Prepared& prepared,
                             const Guardrails& guardrails, Warnings& warnings) {
  return std::visit(StatementChecker{prepared, guardrails, warnings}, statement.node);
}

base::Status check_definition(const cql::Statement& statement, const schema::Snapshot& before,
                              const DefinitionResult& result, const Guardrails& guardrails,
                              Warnings& warnings) {
  return std::visit(DefinitionChecker{before, result, guardrails, warnings}, statement.node);
}

}  // namespace sibyl::plan
