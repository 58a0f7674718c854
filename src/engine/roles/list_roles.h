// LIST ROLES, LIST USERS, LIST SUPERUSERS and LIST PERMISSIONS.
#pragma once

#include <optional>
#include <string>

#include "auth/access.h"
#include "base/result.h"
#include "cql/ast.h"
#include "execute/result_set.h"

namespace sibyl::engine {

// `user` runs the statement. Without DESCRIBE on all roles, only the user's own roles are listed.
base::Result<execute::ResultSet> list_roles(const cql::ListRoles& statement, const std::string& user,
                                            const auth::Access& access, bool checks_permissions);

struct PermissionQuery {
  auth::PermissionSet permissions;         // which to list
  std::optional<auth::Resource> resource;  // nullopt: on anything
  // This role and the roles granted to it; empty: all roles are listed.
  std::string of;
  bool recursive = true;  // include the parents of the resource
};
base::Result<execute::ResultSet> list_permissions(const PermissionQuery& query, const std::string& user,
                                                  const auth::Access& access);

}  // namespace sibyl::engine
