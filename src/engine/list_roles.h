// LIST ROLES, LIST USERS, LIST SUPERUSERS and LIST PERMISSIONS: who sees what.
#pragma once

#include <optional>
#include <string>

#include "auth/access.h"
#include "base/result.h"
#include "cql/ast.h"
#include "execute/result_set.h"

namespace sibyl::engine {

// `user` asks. Without DESCRIBE on all roles he sees his own.
base::Result<execute::ResultSet> list_roles(const cql::ListRoles& statement, const std::string& user,
                                            const auth::Access& access, bool checks_permissions);

struct PermissionQuery {
  auth::PermissionSet permissions;         // which to list
  std::optional<auth::Resource> resource;  // nullopt: on anything
  std::string of;                          // a role and those granted to it; empty: everybody
  bool recursive = true;                   // the resource's parents too
};
base::Result<execute::ResultSet> list_permissions(const PermissionQuery& query, const std::string& user,
                                                  const auth::Access& access);

}  // namespace sibyl::engine
