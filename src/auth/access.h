// Who there is and what each may do: an immutable snapshot of system_auth's tables, made anew at each change.
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
  std::set<std::string> member_of;  // roles granted to it

  bool operator==(const Role&) const = default;
};

// What the tables hold.
struct AccessRows {
  std::map<std::string, Role, std::less<>> roles;
  // Role, then resource's name.
  std::map<std::string, std::map<std::string, PermissionSet, std::less<>>, std::less<>> permissions;
  std::map<std::string, std::string, std::less<>> identities;                  // to roles
  std::map<std::string, std::set<std::string>, std::less<>> cidr_permissions;  // role to groups
};

// Threads: any number may read one.
class Access {
 public:
  Access() = default;
  explicit Access(AccessRows rows);

  const AccessRows& rows() const { return rows_; }
  const Role* find(std::string_view role) const;

  // The role itself and those granted to it, with what is granted to those when `inherited`; in name order.
  // None when there is no such role.
  std::vector<std::string> roles_of(std::string_view role, bool inherited) const;
  // Itself or through a role granted to it.
  bool is_superuser(std::string_view role) const;
  // On the resource itself, not on its parents. A superuser has all that apply to it.
  PermissionSet permissions_on(std::string_view role, const Resource& resource) const;
  // On the resource or one of its parents.
  bool allows(std::string_view role, Permission permission, const Resource& resource) const;
  // The same, as Cassandra says it: "User bob has no SELECT permission on <table ks.t> or any of its
  // parents".
  base::Status ensure(std::string_view role, Permission permission, const Resource& resource) const;

 private:
  // With all that is inherited.
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
