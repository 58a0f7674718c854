#include "plan/definitions/user_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/definitions/draft.h"
#include "plan/terms/written_types.h"

namespace sibyl::plan {

using schema::Change;

namespace {

bool is_user_type(const cql::RawType& raw) {
  return !raw.custom && raw.parameters.empty() && (!raw.keyspace.empty() || !types::scalar_by_name(raw.name));
}

bool is_counter(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() && raw.name == "counter";
}

base::Status check_field(const cql::RawType& raw) {
  if (is_counter(raw)) return base::invalid("A user type cannot contain counters");
  if (is_user_type(raw) && !raw.frozen) return base::invalid("A user type cannot contain non-frozen UDTs");
  return {};
}

base::Status may_change_types(Draft& draft, const std::string& keyspace, const char* action) {
  return draft.check_may_change(keyspace, action, fmt::format("<all tables in {}>", keyspace));
}

// Returns a user type with the new definition of `changed`; nullptr if it does not use that type.
schema::UserTypePtr updated_user_type(const schema::UserType& type, const schema::UserType& changed) {
  bool uses = false;
  auto updated = std::make_shared<schema::UserType>(type);
  for (types::TypePtr& field : updated->field_types) {
    types::TypePtr replaced = replace_user_type(field, changed);
    uses = uses || replaced != field;
    field = std::move(replaced);
  }
  return uses ? updated : nullptr;
}

base::Result<schema::TablePtr> updated_table(const schema::Table& table, const schema::UserType& changed) {
  bool uses = false;
  auto updated = std::make_shared<schema::Table>(table);
  for (schema::Column& column : updated->columns) {
    types::TypePtr replaced = replace_user_type(column.type, changed);
    if (replaced == column.type) continue;
    SIBYL_TRY(check_type_size(*replaced, fmt::format("{}.{}.{}", table.keyspace, table.name, column.name)));
    uses = true;
    column.type = std::move(replaced);
  }
  if (!uses) return nullptr;
  updated->finish();
  return updated;
}

// Updates functions that use the changed type. Their signatures contain only its name and stay the same.
void replace_in_functions(schema::Keyspace& keyspace, const schema::UserType& changed) {
  const auto replace_all = [&](std::vector<types::TypePtr>& types) {
    bool uses = false;
    for (types::TypePtr& type : types) {
      types::TypePtr replaced = replace_user_type(type, changed);
      uses = uses || replaced != type;
      type = std::move(replaced);
    }
    return uses;
  };
  const auto functions = keyspace.functions;
  for (const auto& [signature, function] : functions) {
    auto updated = std::make_shared<schema::UserFunction>(*function);
    updated->return_type = replace_user_type(function->return_type, changed);
    if (replace_all(updated->argument_types) || updated->return_type != function->return_type)
      keyspace.functions.insert_or_assign(signature, std::move(updated));
  }
  const auto aggregates = keyspace.aggregates;
  for (const auto& [signature, aggregate] : aggregates) {
    auto updated = std::make_shared<schema::UserAggregate>(*aggregate);
    updated->return_type = replace_user_type(aggregate->return_type, changed);
    updated->state_type = replace_user_type(aggregate->state_type, changed);
    if (replace_all(updated->argument_types) || updated->return_type != aggregate->return_type ||
        updated->state_type != aggregate->state_type)
      keyspace.aggregates.insert_or_assign(signature, std::move(updated));
  }
}

// Updates everything in the keyspace that uses the changed type, at any depth.
base::Status replace_everywhere(schema::Keyspace& keyspace, const schema::UserTypePtr& changed,
                                Draft& draft) {
  keyspace.types.insert_or_assign(changed->name, changed);
  std::vector<schema::UserTypePtr> pending = {changed};
  std::set<std::string> changed_types, changed_tables, changed_views;
  while (!pending.empty()) {
    const schema::UserTypePtr current = std::move(pending.back());
    pending.pop_back();
    replace_in_functions(keyspace, *current);
    const auto types = keyspace.types;
    for (const auto& [name, type] : types) {
      if (name == current->name) continue;
      if (schema::UserTypePtr updated = updated_user_type(*type, *current)) {
        SIBYL_TRY(check_type_size(*updated->as_type(true), keyspace.name + "." + name));
        keyspace.types.insert_or_assign(name, updated);
        changed_types.insert(name);
        pending.push_back(std::move(updated));
      }
    }
    const auto tables = keyspace.tables;
    for (const auto& [name, table] : tables) {
      SIBYL_ASSIGN(schema::TablePtr updated, updated_table(*table, *current));
      if (updated) {
        keyspace.tables.insert_or_assign(name, std::move(updated));
        changed_tables.insert(name);
      }
    }
    const auto views = keyspace.views;
    for (const auto& [name, view] : views) {
      SIBYL_ASSIGN(schema::TablePtr updated, updated_table(*view, *current));
      if (updated) {
        keyspace.put_view(std::move(updated));
        changed_views.insert(name);
      }
    }
  }
  for (const std::string& name : changed_types)
    draft.further_changes.push_back(
        change_of(Change::Kind::updated, Change::Target::type, keyspace.name, name));
  for (const std::set<std::string>* names : {&changed_tables, &changed_views})
    for (const std::string& name : *names)
      draft.further_changes.push_back(
          change_of(Change::Kind::updated, Change::Target::table, keyspace.name, name));
  return {};
}

std::string tables_with_type_in_partition_key(const schema::Keyspace& keyspace,
                                              const schema::UserType& type) {
  std::string names;
  for (const auto& [name, table] : keyspace.tables) {
    for (size_t i = 0; i < table->partition_key_count; ++i) {
      if (!table->partition_key(i).type->references_udt(type.keyspace, type.name)) continue;
      names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", keyspace.name, name);
      break;
    }
  }
  return names;
}

// Returns nullptr if there is nothing to do.
base::Result<schema::UserTypePtr> add_field(const cql::AlterType::Add& add, const schema::Keyspace& keyspace,
                                            const schema::UserType& type) {
  const std::string qualified = keyspace.name + "." + type.name;
  SIBYL_TRY(check_field(add.type));
  if (std::find(type.field_names.begin(), type.field_names.end(), add.field) != type.field_names.end()) {
    if (add.if_not_exists) return nullptr;
    return base::invalid(fmt::format("Cannot add field {} to type {}: a field with name {} already exists",
                                     add.field, qualified, add.field));
  }
  SIBYL_ASSIGN(types::TypePtr field_type, resolve_type(add.type, keyspace));
  if (field_type->references_udt(keyspace.name, type.name)) {
    return base::invalid(fmt::format(
        "Cannot add new field {} of type {} to user type {} as it would create a circular reference",
        add.field, spell(add.type, keyspace.name), qualified));
  }
  const std::string tables = tables_with_type_in_partition_key(keyspace, type);
  if (!tables.empty()) {
    return base::invalid(
        fmt::format("Cannot add new field {} of type {} to user type {} as the type is being used in "
                    "partition key by the "
                    "following tables: {}",
                    add.field, spell(add.type, keyspace.name), qualified, tables));
  }
  auto changed = std::make_shared<schema::UserType>(type);
  changed->field_names.push_back(add.field);
  changed->field_types.push_back(std::move(field_type));
  SIBYL_TRY(check_type_size(*changed->as_type(true), qualified));
  return changed;
}

base::Result<schema::UserTypePtr> rename_fields(const cql::AlterType::Rename& rename,
                                                const schema::Keyspace& keyspace,
                                                const schema::UserType& type) {
  auto changed = std::make_shared<schema::UserType>(type);
  for (const auto& [from, to] : rename.names) {
    auto found = std::find(type.field_names.begin(), type.field_names.end(), from);
    if (found == type.field_names.end()) {
      if (rename.if_exists) continue;
      return base::invalid(fmt::format("Unkown field {} in user type {}.{}", from, keyspace.name, type.name));
    }
    changed->field_names[static_cast<size_t>(found - type.field_names.begin())] = to;
  }
  std::set<std::string> seen;
  for (const std::string& name : changed->field_names) {
    // Like Cassandra, prints the keyspace's name where the message should have the type's name.
    if (!seen.insert(name).second)
      return base::invalid(fmt::format("Duplicate field name {} in type {}", name, keyspace.name));
  }
  if (changed->field_names == type.field_names) return nullptr;
  return changed;
}

std::string functions_using(const schema::Keyspace& keyspace, const schema::UserType& type) {
  std::string names;
  const auto add_if = [&](const auto& function, const types::TypePtr& further) {
    const auto uses = [&](const types::TypePtr& one) {
      return one->references_udt(type.keyspace, type.name);
    };
    if (std::any_of(function.argument_types.begin(), function.argument_types.end(), uses) ||
        uses(function.return_type) || uses(further))
      names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", keyspace.name, function.name);
  };
  for (const auto& [signature, function] : keyspace.functions) add_if(*function, function->return_type);
  for (const auto& [signature, aggregate] : keyspace.aggregates) add_if(*aggregate, aggregate->state_type);
  return names;
}

std::string users_of(const schema::Keyspace& keyspace, const schema::UserType& type, bool tables) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  if (tables) {
    for (const auto& [name, table] : keyspace.tables) {
      const bool uses =
          std::any_of(table->columns.begin(), table->columns.end(), [&](const schema::Column& column) {
            return column.type->references_udt(type.keyspace, type.name);
          });
      if (uses) add(name);
    }
    return names;
  }
  for (const auto& [name, other] : keyspace.types) {
    const bool uses = std::any_of(
        other->field_types.begin(), other->field_types.end(),
        [&](const types::TypePtr& field) { return field->references_udt(type.keyspace, type.name); });
    if (uses) add(name);
  }
  return names;
}

}  // namespace

base::Result<DefinitionResult> define_type(const cql::CreateType& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.type));
  SIBYL_TRY(may_change_types(draft, keyspace_name, "CREATE"));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (!old) return base::invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace_name));
  const std::string& name = statement.type.name;
  if (old->find_type(name)) {
    if (statement.if_not_exists) return draft.unchanged();
    return base::invalid(fmt::format("A user type with name '{}' already exists", name));
  }
  std::set<std::string> seen;
  for (const auto& [field, raw] : statement.fields)
    if (!seen.insert(field).second)
      return base::invalid(fmt::format("Duplicate field name '{}' in type '{}'", field, name));
  for (const auto& [field, raw] : statement.fields) SIBYL_TRY(check_field(raw));

  auto type = std::make_shared<schema::UserType>();
  type->keyspace = keyspace_name;
  type->name = name;
  for (const auto& [field, raw] : statement.fields) {
    SIBYL_ASSIGN(types::TypePtr field_type, resolve_type(raw, *old));
    type->field_names.push_back(field);
    type->field_types.push_back(std::move(field_type));
  }
  SIBYL_TRY(check_type_size(*type->as_type(true), keyspace_name + "." + name));
  auto keyspace = draft.change(*old);
  keyspace->types.insert_or_assign(name, std::move(type));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::created, Change::Target::type, keyspace_name, name));
}

base::Result<DefinitionResult> define_type(const cql::AlterType& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.type));
  SIBYL_TRY(may_change_types(draft, keyspace_name, "ALTER"));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  const std::string& name = statement.type.name;
  schema::UserTypePtr type = old ? old->find_type(name) : nullptr;
  if (!type) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Type {}.{} doesn't exist", keyspace_name, name));
  }
  schema::UserTypePtr changed;
  if (const auto* add = std::get_if<cql::AlterType::Add>(&statement.action)) {
    SIBYL_ASSIGN(changed, add_field(*add, *old, *type));
  } else if (const auto* rename = std::get_if<cql::AlterType::Rename>(&statement.action)) {
    SIBYL_ASSIGN(changed, rename_fields(*rename, *old, *type));
  } else {
    return base::invalid("Altering field types is no longer supported");
  }
  if (!changed) return draft.unchanged();
  auto keyspace = draft.change(*old);
  SIBYL_TRY(replace_everywhere(*keyspace, changed, draft));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::type, keyspace_name, name));
}

base::Result<DefinitionResult> define_type(const cql::DropType& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.type));
  SIBYL_TRY(may_change_types(draft, keyspace_name, "DROP"));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  const std::string& name = statement.type.name;
  schema::UserTypePtr type = old ? old->find_type(name) : nullptr;
  if (!type) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Type '{}.{}' doesn't exist", keyspace_name, name));
  }
  if (const std::string functions = functions_using(*old, *type); !functions.empty())
    return base::invalid(fmt::format("Cannot drop user type '{}.{}' as it is still used by functions {}",
                                     keyspace_name, name, functions));
  for (const bool tables : {false, true}) {
    const std::string users = users_of(*old, *type, tables);
    if (!users.empty()) {
      return base::invalid(fmt::format("Cannot drop user type '{}.{}' as it is still used by {} {}",
                                       keyspace_name, name, tables ? "tables" : "user types", users));
    }
  }
  auto keyspace = draft.change(*old);
  keyspace->types.erase(name);
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::dropped, Change::Target::type, keyspace_name, name));
}

}  // namespace sibyl::plan
