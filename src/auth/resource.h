// Resources that permissions apply to: keyspaces, tables, roles, functions, beans, each with its parents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/permission.h"
#include "types/type.h"

namespace sibyl::auth {

struct Resource {
  enum class Kind : uint8_t {
    all_keyspaces,
    keyspace,
    all_tables,  // of a keyspace
    table,
    all_roles,
    role,
    all_functions,
    all_functions_in_keyspace,
    function,
    all_mbeans,
    mbean,
  };
  Kind kind = Kind::all_keyspaces;
  std::string keyspace;                        // empty for kinds without a keyspace
  std::string name;                            // name of a table, role, function or bean
  std::vector<types::TypePtr> argument_types;  // of a function

  static Resource all_keyspaces() { return {}; }
  static Resource of_keyspace(std::string keyspace) { return {Kind::keyspace, std::move(keyspace), {}, {}}; }
  static Resource all_tables(std::string keyspace) { return {Kind::all_tables, std::move(keyspace), {}, {}}; }
  static Resource table(std::string keyspace, std::string name) {
    return {Kind::table, std::move(keyspace), std::move(name), {}};
  }
  static Resource all_roles() { return {Kind::all_roles, {}, {}, {}}; }
  static Resource role(std::string name) { return {Kind::role, {}, std::move(name), {}}; }
  static Resource all_functions() { return {Kind::all_functions, {}, {}, {}}; }
  static Resource functions_in(std::string keyspace) {
    return {Kind::all_functions_in_keyspace, std::move(keyspace), {}, {}};
  }
  static Resource function(std::string keyspace, std::string name, std::vector<types::TypePtr> arguments) {
    return {Kind::function, std::move(keyspace), std::move(name), std::move(arguments)};
  }
  static Resource all_mbeans() { return {Kind::all_mbeans, {}, {}, {}}; }
  static Resource mbean(std::string name) { return {Kind::mbean, {}, std::move(name), {}}; }
};

// The name in system_auth's tables: "data/ks/t", "roles/bob", "functions/ks/f[...Int32Type]".
std::string name_of(const Resource& resource);
// The inverse of name_of(). Returns nullopt for invalid names.
std::optional<Resource> resource_by_name(std::string_view name);
// The name in messages and LIST PERMISSIONS: "<table ks.t>".
std::string to_string(const Resource& resource);
// Returns the parent; nullopt at the root.
std::optional<Resource> parent_of(const Resource& resource);
// Permissions that can be granted on this kind of resource.
PermissionSet applicable_permissions(Resource::Kind kind);
// Cassandra's class: "DataResource", "RoleResource", "FunctionResource", "JMXResource".
const char* class_of(Resource::Kind kind);

}  // namespace sibyl::auth
