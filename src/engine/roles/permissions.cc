#include "engine/roles/permissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/prepared/plan_cache.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"
#include "plan/terms/written_types.h"

namespace sibyl::engine {
namespace {

using auth::Permission;
using auth::Resource;

Resource resource_of(const schema::Table& table) {
  return Resource::table(table.keyspace, table.name);
}

template <typename Function>
Resource resource_of(const Function& function)
  requires requires { function.argument_types; }
{
  return Resource::function(function.keyspace, function.name, function.argument_types);
}

// Drivers read these tables when they connect. The list is Cassandra's. It excludes traces, which show other
// users' statements, and estimates, which show other users' data sizes.
bool is_readable_by_all(const schema::Table& table) {
  if (table.keyspace == "system")
    return table.name == "local" || table.name == "peers" || table.name == "peers_v2";
  return table.keyspace == "system_schema" || table.keyspace == "system_virtual_schema";
}

class Checker {
 public:
  Checker(const std::string& user, const auth::Access& access, const schema::Snapshot& schema)
      : user_(user), access_(access), schema_(schema) {}

  base::Status ensure(Permission permission, const Resource& resource) const {
    return access_.ensure(user_, permission, resource);
  }
  base::Status ensure(Permission permission, const schema::Table& table) const {
    if (permission == Permission::select && is_readable_by_all(table)) return {};
    return ensure(permission, resource_of(table));
  }
  base::Status ensure_superuser(const char* message) const {
    if (access_.is_superuser(user_)) return {};
    return base::fail(base::ErrorCode::unauthorized, message);
  }
  // A view may be read with SELECT permission on its base table.
  base::Status ensure_readable(const schema::Table& table) const {
    if (!table.is_view()) return ensure(Permission::select, table);
    return ensure(Permission::select, Resource::table(table.keyspace, table.view->base_table));
  }
  // A role that can filter by a masked value, or make a write depend on one, can find out every value.
  base::Status ensure_may_filter_by(const schema::Table& table,
                                    const std::vector<const schema::Column*>& masked) const {
    if (masked.empty() || access_.allows(user_, Permission::unmask, resource_of(table)) ||
        access_.allows(user_, Permission::select_masked, resource_of(table)))
      return {};
    std::string names;
    for (const schema::Column* column : masked) names += (names.empty() ? "" : ", ") + column->name;
    return base::fail(
        base::ErrorCode::unauthorized,
        fmt::format("User {} has no UNMASK nor SELECT_MASKED permission on table {}.{}, cannot query masked "
                    "columns [{}]",
                    user_, table.keyspace, table.name, names));
  }
  // An aggregate also calls its functions.
  base::Status ensure_execute(const plan::CalledFunction& call) const {
    if (const schema::KeyspacePtr keyspace = schema_.find_keyspace(call.keyspace)) {
      if (const auto found = keyspace->functions.find(call.signature); found != keyspace->functions.end())
        return ensure(Permission::execute, resource_of(*found->second));
      if (const auto found = keyspace->aggregates.find(call.signature); found != keyspace->aggregates.end())
        return ensure_execute(*found->second);
    }
    return base::invalid(
        fmt::format("Unknown function '{}.{}'", call.keyspace, call.signature));  // dropped since planning
  }
  base::Status ensure_execute(const schema::UserAggregate& aggregate) const {
    SIBYL_TRY(ensure(Permission::execute, resource_of(aggregate)));
    std::vector<types::TypePtr> types = {aggregate.state_type};
    types.insert(types.end(), aggregate.argument_types.begin(), aggregate.argument_types.end());
    SIBYL_TRY(
        ensure(Permission::execute, Resource::function(aggregate.keyspace, aggregate.state_function, types)));
    if (aggregate.final_function.empty()) return {};
    return ensure(Permission::execute,
                  Resource::function(aggregate.keyspace, aggregate.final_function, {aggregate.state_type}));
  }
  base::Status ensure_writable(const plan::Modification& write) const {
    const schema::Table& table = *write.table;
    SIBYL_TRY(ensure(Permission::modify, table));
    // A conditional write reveals existing values.
    if (write.conditions || !table.views.empty()) SIBYL_TRY(ensure(Permission::select, table));
    for (const schema::TablePtr& view : table.views) SIBYL_TRY(ensure(Permission::modify, *view));
    return ensure_may_filter_by(table, write.revealed_masks);
  }

  const schema::Snapshot& schema() const { return schema_; }

 private:
  const std::string& user_;
  const auth::Access& access_;
  const schema::Snapshot& schema_;
};

// Definitions. If they name no keyspace, or a system keyspace, the definition itself returns the error.
class DefinitionChecker {
 public:
  DefinitionChecker(const Checker& checker, const std::string& session)
      : checker_(checker), session_(session) {}

  base::Status operator()(const cql::CreateKeyspace&) const {
    return checker_.ensure(Permission::create, Resource::all_keyspaces());
  }
  base::Status operator()(const cql::AlterKeyspace& statement) const {
    return checker_.ensure(Permission::alter, Resource::of_keyspace(statement.name));
  }
  base::Status operator()(const cql::DropKeyspace& statement) const {
    if (!is_users(statement.name)) return {};
    return checker_.ensure(Permission::drop, Resource::of_keyspace(statement.name));
  }
  base::Status operator()(const cql::CreateTable& statement) const {
    return in_all_tables(Permission::create, statement.table);
  }
  base::Status operator()(const cql::AlterTable& statement) const {
    return on_table(Permission::alter, statement.table);
  }
  base::Status operator()(const cql::DropTable& statement) const {
    return on_table(Permission::drop, statement.table);
  }
  base::Status operator()(const cql::CreateType& statement) const {
    return in_all_tables(Permission::create, statement.type);
  }
  base::Status operator()(const cql::AlterType& statement) const {
    return in_all_tables(Permission::alter, statement.type);
  }
  base::Status operator()(const cql::DropType& statement) const {
    return in_all_tables(Permission::drop, statement.type);
  }
  base::Status operator()(const cql::CreateIndex& statement) const {
    return on_table(Permission::alter, statement.table);
  }
  base::Status operator()(const cql::DropIndex& statement) const {
    const schema::KeyspacePtr keyspace = keyspace_of(statement.index);
    if (!keyspace) return {};
    const schema::TablePtr table = keyspace->find_indexed_table(statement.index.name);
    return table ? checker_.ensure(Permission::alter, resource_of(*table)) : base::Status();
  }
  // The base table is in the view's keyspace, whatever keyspace the session uses.
  base::Status operator()(const cql::CreateView& statement) const {
    return on_table(Permission::alter, {name_of_keyspace(statement.view), statement.select->table.name});
  }
  base::Status operator()(const cql::AlterView& statement) const { return on_base(statement.view); }
  base::Status operator()(const cql::DropView& statement) const { return on_base(statement.view); }

  base::Status operator()(const cql::CreateFunction& statement) const {
    std::vector<cql::RawType> types;
    for (const auto& [name, type] : statement.arguments) types.push_back(type);
    return create_function(statement.function, types, statement.or_replace);
  }
  base::Status operator()(const cql::CreateAggregate& statement) const {
    SIBYL_TRY(create_function(statement.aggregate, statement.argument_types, statement.or_replace));
    std::vector<cql::RawType> types = {statement.state_type};
    types.insert(types.end(), statement.argument_types.begin(), statement.argument_types.end());
    SIBYL_TRY(call(statement.aggregate, statement.state_function, types));
    return call(statement.aggregate, statement.final_function, {statement.state_type});
  }
  base::Status operator()(const cql::DropFunction& statement) const {
    return drop_function(statement.function, statement.argument_types);
  }
  base::Status operator()(const cql::DropAggregate& statement) const {
    return drop_function(statement.aggregate, statement.argument_types);
  }
  base::Status operator()(const cql::CreateTrigger&) const {
    return checker_.ensure_superuser("Only superusers are allowed to perform CREATE TRIGGER queries");
  }
  base::Status operator()(const cql::DropTrigger&) const {
    return checker_.ensure_superuser("Only superusers are allowed to perfrom DROP TRIGGER queries");
  }
  // Not definitions.
  template <typename Other>
  base::Status operator()(const Other&) const {
    return {};
  }

 private:
  const std::string& name_of_keyspace(const cql::QualifiedName& name) const {
    return name.keyspace.empty() ? session_ : name.keyspace;
  }
  bool is_users(const std::string& name) const {
    const schema::KeyspacePtr keyspace = checker_.schema().find_keyspace(name);
    return !name.empty() && !(keyspace && keyspace->is_system);
  }
  // Returns nullptr if there is no such keyspace, or if it is a system keyspace.
  schema::KeyspacePtr keyspace_of(const cql::QualifiedName& name) const {
    schema::KeyspacePtr keyspace = checker_.schema().find_keyspace(name_of_keyspace(name));
    return keyspace && !keyspace->is_system ? keyspace : nullptr;
  }
  base::Status in_all_tables(Permission permission, const cql::QualifiedName& name) const {
    const std::string& keyspace = name_of_keyspace(name);
    return is_users(keyspace) ? checker_.ensure(permission, Resource::all_tables(keyspace)) : base::Status();
  }
  base::Status on_table(Permission permission, const cql::QualifiedName& name) const {
    const std::string& keyspace = name_of_keyspace(name);
    if (!is_users(keyspace)) return {};
    return checker_.ensure(permission, Resource::table(keyspace, name.name));
  }
  base::Status on_base(const cql::QualifiedName& name) const {
    const schema::KeyspacePtr keyspace = keyspace_of(name);
    const schema::TablePtr view = keyspace ? keyspace->find_table(name.name) : nullptr;
    if (!view || !view->is_view()) return {};
    return checker_.ensure(Permission::alter, Resource::table(view->keyspace, view->view->base_table));
  }

  // Returns nullopt if a type does not exist; the definition reports that.
  std::optional<Resource> function_of(const schema::Keyspace& keyspace, const std::string& name,
                                      const std::vector<cql::RawType>& raw_types) const {
    std::vector<types::TypePtr> arguments;
    for (const cql::RawType& raw : raw_types) {
      auto type = plan::resolve_type(raw, keyspace);
      if (!type) return std::nullopt;
      arguments.push_back(std::move(*type));
    }
    return Resource::function(keyspace.name, name, std::move(arguments));
  }
  base::Status create_function(const cql::QualifiedName& name, const std::vector<cql::RawType>& types,
                               bool or_replace) const {
    const std::string& keyspace_name = name_of_keyspace(name);
    if (!is_users(keyspace_name)) return {};
    const schema::KeyspacePtr keyspace = keyspace_of(name);
    if (or_replace && keyspace) {
      const auto function = function_of(*keyspace, name.name, types);
      if (function && exists(*function, checker_.schema(), {}))
        return checker_.ensure(Permission::alter, *function);
    }
    return checker_.ensure(Permission::create, Resource::functions_in(keyspace_name));
  }
  base::Status call(const cql::QualifiedName& aggregate, const std::string& name,
                    const std::vector<cql::RawType>& types) const {
    const schema::KeyspacePtr keyspace = keyspace_of(aggregate);
    if (name.empty() || !keyspace) return {};
    const auto function = function_of(*keyspace, name, types);
    return function ? checker_.ensure(Permission::execute, *function) : base::Status();
  }
  base::Status drop_function(const cql::QualifiedName& name,
                             const std::optional<std::vector<cql::RawType>>& types) const {
    const schema::KeyspacePtr keyspace = keyspace_of(name);
    if (!keyspace) return {};
    if (types) {
      const auto function = function_of(*keyspace, name.name, *types);
      if (!function || !exists(*function, checker_.schema(), {})) return {};
      return checker_.ensure(Permission::drop, *function);
    }
    const auto drop_all = [&](const auto& functions) -> base::Status {
      for (const auto& [signature, function] : functions)
        if (function->name == name.name)
          SIBYL_TRY(checker_.ensure(Permission::drop,
                                    Resource::function(keyspace->name, name.name, function->argument_types)));
      return {};
    };
    SIBYL_TRY(drop_all(keyspace->functions));
    return drop_all(keyspace->aggregates);
  }

  const Checker& checker_;
  const std::string& session_;
};

struct PlanChecker {
  const Checker& checker;
  const plan::Prepared& prepared;

  base::Status operator()(const std::shared_ptr<const plan::Select>& select) const {
    SIBYL_TRY(checker.ensure_readable(*select->table));
    return checker.ensure_may_filter_by(*select->table, select->restricted_masks);
  }
  base::Status operator()(const std::shared_ptr<const plan::Modification>& write) const {
    return checker.ensure_writable(*write);
  }
  base::Status operator()(const std::shared_ptr<const plan::Batch>& batch) const {
    for (const auto& statement : batch->statements) SIBYL_TRY(checker.ensure_writable(*statement));
    return {};
  }
  base::Status operator()(const plan::Truncate& truncate) const {
    return checker.ensure(Permission::modify, *truncate.table);
  }
  base::Status operator()(const plan::Definition& definition) const {
    return std::visit(DefinitionChecker(checker, prepared.keyspace), definition.statement->node);
  }
  base::Status operator()(const plan::Explain& explain) const { return check(checker, *explain.explained); }
  base::Status operator()(const plan::Use&) const { return {}; }
  base::Status operator()(const plan::Describe&) const { return {}; }

  static base::Status check(const Checker& checker, const plan::Prepared& prepared) {
    SIBYL_TRY(std::visit(PlanChecker{checker, prepared}, prepared.plan));
    for (const plan::CalledFunction& call : prepared.calls) SIBYL_TRY(checker.ensure_execute(call));
    return {};
  }
};

// A statement that this thread has allowed. A plan is identified by its address, which cannot be reused while
// it is kept here.
struct Allowed {
  plan::PreparedPtr plan;
  const Roles* roles = nullptr;
  uint64_t generation = 0;
  uint32_t login = 0;
};

Allowed& remembered(const plan::PreparedPtr& plan, uint32_t login) {
  thread_local std::array<Allowed, 256> allowed;
  const size_t place = reinterpret_cast<uintptr_t>(plan.get()) / alignof(plan::Prepared) + login * 31;
  return allowed[(place ^ place >> 8) % allowed.size()];
}

// Permissions of definitions also depend on the schema, so they are not cached.
bool is_worth_remembering(const plan::Prepared& plan) {
  if (!is_small(plan)) return false;
  return plan.profile.is_read() || plan.profile.is_write();
}

}  // namespace

base::Status authorize(const plan::Prepared& plan, const std::string& user, const auth::Access& access,
                       const schema::Snapshot& schema) {
  return PlanChecker::check(Checker(user, access, schema), plan);
}

bool may_unmask(const std::vector<schema::TablePtr>& tables, const std::string& user,
                const auth::Access& access) {
  return std::all_of(tables.begin(), tables.end(), [&](const schema::TablePtr& table) {
    return !table->has_masks || access.allows(user, Permission::unmask, resource_of(*table));
  });
}

bool PermissionCheck::is_allowed(const plan::PreparedPtr& plan, const auth::Login& login) const {
  const Allowed& known = remembered(plan, login.number);
  return known.plan == plan && known.login == login.number && known.roles == &roles_ &&
         known.generation == roles_.generation();
}

base::Status PermissionCheck::check_now(const plan::PreparedPtr& plan, const auth::Login& login,
                                        const schema::Snapshot& schema) const {
  // Read before the permissions, so that a concurrent change makes the cached entry outdated.
  const uint64_t generation = roles_.generation();
  SIBYL_TRY(authorize(*plan, login.role, *roles_.access(), schema));
  if (is_worth_remembering(*plan)) remembered(plan, login.number) = {plan, &roles_, generation, login.number};
  return {};
}

}  // namespace sibyl::engine
