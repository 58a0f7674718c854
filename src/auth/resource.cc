#include "auth/resource.h"

#include <fmt/format.h>

#include "types/type_name.h"

namespace sibyl::auth {
namespace {

using Kind = Resource::Kind;

constexpr std::string_view data_root = "data", roles_root = "roles", functions_root = "functions",
                           beans_root = "mbean";

std::string join_arguments(const std::vector<types::TypePtr>& types, const char* glue,
                           std::string (types::Type::*text)() const) {
  std::string result;
  for (const types::TypePtr& type : types) result.append(result.empty() ? "" : glue).append((*type.*text)());
  return result;
}

// Returns the part of the name after "root/", which is empty for the root itself. Returns nullopt if the name
// has another root.
std::optional<std::string_view> below(std::string_view name, std::string_view root) {
  if (!name.starts_with(root)) return std::nullopt;
  name.remove_prefix(root.size());
  if (name.empty()) return name;
  if (name[0] != '/' || name.size() == 1) return std::nullopt;
  return name.substr(1);
}

std::optional<Resource> data_by_name(std::string_view rest) {
  if (rest.empty()) return Resource::all_keyspaces();
  const size_t slash = rest.find('/');
  if (slash == rest.npos) return Resource::of_keyspace(std::string(rest));
  const std::string keyspace(rest.substr(0, slash));
  const std::string_view table = rest.substr(slash + 1);
  if (table.empty() || keyspace.empty()) return std::nullopt;
  if (table == "*") return Resource::all_tables(keyspace);
  return Resource::table(keyspace, std::string(table));
}

std::optional<Resource> function_by_name(std::string_view rest) {
  if (rest.empty()) return Resource::all_functions();
  const size_t slash = rest.find('/');
  if (slash == rest.npos) return Resource::functions_in(std::string(rest));
  const std::string keyspace(rest.substr(0, slash));
  std::string_view function = rest.substr(slash + 1);
  const size_t bracket = function.rfind('[');
  if (keyspace.empty() || bracket == function.npos || !function.ends_with(']')) return std::nullopt;
  const std::string name(function.substr(0, bracket));
  std::string_view list = function.substr(bracket + 1, function.size() - bracket - 2);
  std::vector<types::TypePtr> arguments;
  while (!list.empty()) {
    const size_t end = std::min(list.find('^'), list.size());
    arguments.push_back(types::parse_class_name(list.substr(0, end)));
    if (!arguments.back()) return std::nullopt;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return Resource::function(keyspace, name, std::move(arguments));
}

}  // namespace

std::string name_of(const Resource& resource) {
  switch (resource.kind) {
    case Kind::all_keyspaces:
      return std::string(data_root);
    case Kind::keyspace:
      return fmt::format("{}/{}", data_root, resource.keyspace);
    case Kind::all_tables:
      return fmt::format("{}/{}/*", data_root, resource.keyspace);
    case Kind::table:
      return fmt::format("{}/{}/{}", data_root, resource.keyspace, resource.name);
    case Kind::all_roles:
      return std::string(roles_root);
    case Kind::role:
      return fmt::format("{}/{}", roles_root, resource.name);
    case Kind::all_functions:
      return std::string(functions_root);
    case Kind::all_functions_in_keyspace:
      return fmt::format("{}/{}", functions_root, resource.keyspace);
    case Kind::function:
      return fmt::format("{}/{}/{}[{}]", functions_root, resource.keyspace, resource.name,
                         join_arguments(resource.argument_types, "^", &types::Type::class_name));
    case Kind::all_mbeans:
      return std::string(beans_root);
    case Kind::mbean:
      break;
  }
  return fmt::format("{}/{}", beans_root, resource.name);
}

std::optional<Resource> resource_by_name(std::string_view name) {
  if (const auto rest = below(name, roles_root))
    return rest->empty() ? Resource::all_roles() : Resource::role(std::string(*rest));
  if (const auto rest = below(name, data_root)) return data_by_name(*rest);
  if (const auto rest = below(name, functions_root)) return function_by_name(*rest);
  if (const auto rest = below(name, beans_root))
    return rest->empty() ? Resource::all_mbeans() : Resource::mbean(std::string(*rest));
  return std::nullopt;
}

std::string to_string(const Resource& resource) {
  switch (resource.kind) {
    case Kind::all_keyspaces:
      return "<all keyspaces>";
    case Kind::keyspace:
      return fmt::format("<keyspace {}>", resource.keyspace);
    case Kind::all_tables:
      return fmt::format("<all tables in {}>", resource.keyspace);
    case Kind::table:
      return fmt::format("<table {}.{}>", resource.keyspace, resource.name);
    case Kind::all_roles:
      return "<all roles>";
    case Kind::role:
      return fmt::format("<role {}>", resource.name);
    case Kind::all_functions:
      return "<all functions>";
    case Kind::all_functions_in_keyspace:
      return fmt::format("<all functions in {}>", resource.keyspace);
    case Kind::function:
      return fmt::format("<function {}.{}({})>", resource.keyspace, resource.name,
                         join_arguments(resource.argument_types, ", ", &types::Type::cql_name));
    case Kind::all_mbeans:
      return "<all mbeans>";
    case Kind::mbean:
      break;
  }
  return fmt::format("<mbean {}>", resource.name);
}

std::optional<Resource> parent_of(const Resource& resource) {
  switch (resource.kind) {
    case Kind::all_keyspaces:
    case Kind::all_roles:
    case Kind::all_functions:
    case Kind::all_mbeans:
      return std::nullopt;
    case Kind::keyspace:
      return Resource::all_keyspaces();
    case Kind::all_tables:
      return Resource::of_keyspace(resource.keyspace);
    case Kind::table:
      return Resource::all_tables(resource.keyspace);
    case Kind::role:
      return Resource::all_roles();
    case Kind::all_functions_in_keyspace:
      return Resource::all_functions();
    case Kind::function:
      return Resource::functions_in(resource.keyspace);
    case Kind::mbean:
      break;
  }
  return Resource::all_mbeans();
}

PermissionSet applicable_permissions(Kind kind) {
  using enum Permission;
  switch (kind) {
    case Kind::all_keyspaces:
    case Kind::keyspace:
    case Kind::all_tables:
      return {create, alter, drop, select, modify, authorize, unmask, select_masked};
    case Kind::table:
      return {alter, drop, select, modify, authorize, unmask, select_masked};
    case Kind::all_roles:
      return {create, alter, drop, authorize, describe};
    case Kind::role:
      return {alter, drop, authorize, describe};
    case Kind::all_functions:
    case Kind::all_functions_in_keyspace:
      return {create, alter, drop, authorize, execute};
    case Kind::function:
      return {alter, drop, authorize, execute};
    case Kind::all_mbeans:
    case Kind::mbean:
      break;
  }
  return {authorize, describe, execute, modify, select};
}

const char* class_of(Kind kind) {
  if (kind <= Kind::table) return "DataResource";
  if (kind <= Kind::role) return "RoleResource";
  return kind <= Kind::function ? "FunctionResource" : "JMXResource";
}

}  // namespace sibyl::auth
