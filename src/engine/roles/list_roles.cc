#include "engine/roles/list_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/system_rows.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using auth::Access;
using auth::Permission;
using auth::Resource;
using execute::ResultSet;
using types::Kind;
using types::scalar;

plan::ResultMetadataPtr columns(const char* table,
                                std::initializer_list<std::pair<const char*, types::TypePtr>> list) {
  auto metadata = std::make_shared<plan::ResultMetadata>();
  for (const auto& [name, type] : list) metadata->columns.push_back({"system_auth", table, name, type});
  return metadata;
}

bool contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

ResultSet users_result(const std::vector<std::string>& roles, const Access& access) {
  static const plan::ResultMetadataPtr metadata = columns(
      "users",
      {{"name", scalar(Kind::text)}, {"super", scalar(Kind::boolean)}, {"datacenters", scalar(Kind::text)}});
  ResultSet result{.kind = ResultSet::Kind::rows, .metadata = metadata};
  for (const std::string& name : roles) {
    if (!access.find(name)->can_login) continue;
    result.rows.add(name);
    result.rows.add(types::encode_boolean(access.is_superuser(name)));
    result.rows.add("ALL");
    result.rows.end_row();
  }
  return result;
}

ResultSet superusers_result(const std::vector<std::string>& roles, const Access& access) {
  static const plan::ResultMetadataPtr metadata = columns("roles", {{"role", scalar(Kind::text)}});
  ResultSet result{.kind = ResultSet::Kind::rows, .metadata = metadata};
  for (const std::string& name : roles) {
    if (!access.is_superuser(name)) continue;
    result.rows.add(name);
    result.rows.end_row();
  }
  return result;
}

ResultSet roles_result(const std::vector<std::string>& roles, const Access& access) {
  static const plan::ResultMetadataPtr metadata =
      columns("roles", {{"role", scalar(Kind::text)},
                        {"super", scalar(Kind::boolean)},
                        {"login", scalar(Kind::boolean)},
                        {"options", types::map_of(scalar(Kind::text), scalar(Kind::text), true)},
                        {"datacenters", scalar(Kind::text)}});
  ResultSet result{.kind = ResultSet::Kind::rows, .metadata = metadata};
  for (const std::string& name : roles) {
    const auth::Role& role = *access.find(name);
    result.rows.add(name);
    result.rows.add(types::encode_boolean(role.is_superuser));
    result.rows.add(types::encode_boolean(role.can_login));
    result.rows.add(text_map({}));
    result.rows.add("ALL");
    result.rows.end_row();
  }
  return result;
}

}  // namespace

base::Result<ResultSet> list_roles(const cql::ListRoles& statement, const std::string& user,
                                   const Access& access, bool checks_permissions) {
  if (!statement.of.empty() && !access.find(statement.of))
    return base::invalid(fmt::format("{} doesn't exist", to_string(Resource::role(statement.of))));
  const bool recursive = statement.recursive && !statement.users && !statement.superusers;
  std::vector<std::string> roles;
  const bool sees_all = !checks_permissions ||
                        access.permissions_on(user, Resource::all_roles()).contains(Permission::describe);
  if (!statement.of.empty()) {
    if (!sees_all && !contains(access.roles_of(user, true), statement.of))
      return base::fail(base::ErrorCode::unauthorized,
                        fmt::format("You are not authorized to view roles granted to {} ", statement.of));
    roles = access.roles_of(statement.of, recursive);
  } else if (sees_all) {
    for (const auto& [name, role] : access.rows().roles) roles.push_back(name);
  } else {
    roles = access.roles_of(user, recursive);
  }
  if (roles.empty()) return ResultSet();
  if (statement.superusers) return superusers_result(roles, access);
  return statement.users ? users_result(roles, access) : roles_result(roles, access);
}

base::Result<ResultSet> list_permissions(const PermissionQuery& query, const std::string& user,
                                         const Access& access) {
  const bool describes_all =
      access.permissions_on(user, Resource::all_roles()).contains(Permission::describe);
  const bool may_see =
      access.is_superuser(user) || describes_all ||
      (!query.of.empty() &&
       (contains(access.roles_of(user, true), query.of) ||
        access.permissions_on(user, Resource::role(query.of)).contains(Permission::describe)));
  if (!may_see)
    return base::fail(base::ErrorCode::unauthorized,
                      fmt::format("You are not authorized to view {}'s permissions",
                                  query.of.empty() ? "everyone" : query.of));
  std::set<std::string> resources;
  for (std::optional<Resource> level = query.resource; level;
       level = query.recursive ? auth::parent_of(*level) : std::nullopt)
    resources.insert(auth::name_of(*level));
  const std::vector<std::string> roles =
      query.of.empty() ? std::vector<std::string>() : access.roles_of(query.of, true);

  static const plan::ResultMetadataPtr metadata =
      columns("permissions", {{"role", scalar(Kind::text)},
                              {"username", scalar(Kind::text)},
                              {"resource", scalar(Kind::text)},
                              {"permission", scalar(Kind::text)}});
  ResultSet result{.kind = ResultSet::Kind::rows, .metadata = metadata};
  // Both maps are in the order of the result.
  for (const auto& [role, permissions] : access.rows().permissions) {
    if (!query.of.empty() && !contains(roles, role)) continue;
    for (const auto& [name, set] : permissions) {
      if (query.resource && !resources.contains(name)) continue;
      const auto resource = auth::resource_by_name(name);
      if (!resource) continue;
      for (const Permission permission : (set & query.permissions).list()) {
        result.rows.add(role);
        result.rows.add(role);
        result.rows.add(to_string(*resource));
        result.rows.add(to_string(permission));
        result.rows.end_row();
      }
    }
  }
  if (result.rows.count() == 0) return ResultSet();
  return result;
}

}  // namespace sibyl::engine
