// Roles and their permissions: an immutable snapshot of system_auth's tables. Each change creates a new
// snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "auth/permission.h"
#include "auth/resource.h"
#include "base/result.h"

namespace sibyl::auth {

struct Role {
  bool is_superuser = false;
  bool can_login = false;
  std::optional<std::string> salted_hash;
  std::set<std::string> member_of;  // roles granted to this role

  bool operator==(const Role&) const = default;
};

// Contents of system_auth's tables.
struct AccessRows {
  std::map<std::string, Role, std::less<>> roles;
  // permissions for each role, by the name of the resource
  std::map<std::string, std::map<std::string, PermissionSet, std::less<>>, std::less<>> permissions;
  std::map<std::string, std::string, std::less<>> identities;                  // identity to role
  std::map<std::string, std::set<std::string>, std::less<>> cidr_permissions;  // role to groups
};

// Immutable; thread-safe.
class Access {
 public:
  Access() = default;
  explicit Access(AccessRows rows);

  const AccessRows& rows() const { return rows_; }
  const Role* find(std::string_view role) const;

  // Returns the role and the roles granted to it, including indirectly granted ones if `inherited`, in name
  // order. Empty if the role does not exist.
  std::vector<std::string> roles_of(std::string_view role, bool inherited) const;
  // True if the role, or a role granted to it, is a superuser.
  bool is_superuser(std::string_view role) const;
  // Permissions on the resource itself, not on its parents. A superuser has all applicable permissions.
  PermissionSet permissions_on(std::string_view role, const Resource& resource) const;
  // True if the role has the permission on the resource or one of its parents.
  bool allows(std::string_view role, Permission permission, const Resource& resource) const;
  // Like allows(), but returns Cassandra's error: "User bob has no SELECT permission on <table ks.t> or any
  // of its parents".
  base::Status ensure(std::string_view role, Permission permission, const Resource& resource) const;

 private:
  // A role's permissions, including inherited ones.
  struct Effective {
    bool is_superuser = false;
    std::vector<std::string> roles;
    std::unordered_map<std::string, PermissionSet> permissions;
  };
  const Effective* effective(std::string_view role) const;

  AccessRows rows_;
  std::map<std::string, Effective, std::less<>> effective_;
};
using AccessPtr = std::shared_ptr<const Access>;

}  // namespace sibyl::auth
