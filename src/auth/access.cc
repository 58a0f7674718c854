#include "auth/access.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::auth {

Access::Access(AccessRows rows) : rows_(std::move(rows)) {
  for (const auto& [name, role] : rows_.roles) {
    Effective& made = effective_[name];
    made.roles = roles_of(name, true);
    for (const std::string& inherited : made.roles) {
      made.is_superuser |= rows_.roles.at(inherited).is_superuser;
      const auto found = rows_.permissions.find(inherited);
      if (found == rows_.permissions.end()) continue;
      for (const auto& [resource, permissions] : found->second) {
        PermissionSet& set = made.permissions[resource];
        set = set | permissions;
      }
    }
  }
}

const Role* Access::find(std::string_view role) const {
  const auto found = rows_.roles.find(role);
  return found == rows_.roles.end() ? nullptr : &found->second;
}

const Access::Effective* Access::effective(std::string_view role) const {
  const auto found = effective_.find(role);
  return found == effective_.end() ? nullptr : &found->second;
}

std::vector<std::string> Access::roles_of(std::string_view role, bool inherited) const {
  std::vector<std::string> waiting = {std::string(role)};
  std::set<std::string> met;
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const Role* found = find(name);
    if (found == nullptr || !met.insert(name).second) continue;
    if (inherited || name == role)
      waiting.insert(waiting.end(), found->member_of.begin(), found->member_of.end());
  }
  return {met.begin(), met.end()};
}

bool Access::is_superuser(std::string_view role) const {
  const Effective* found = effective(role);
  return found != nullptr && found->is_superuser;
}

PermissionSet Access::permissions_on(std::string_view role, const Resource& resource) const {
  const Effective* found = effective(role);
  if (found == nullptr) return {};
  if (found->is_superuser) return applicable_permissions(resource.kind);
  const auto entry = found->permissions.find(name_of(resource));
  return entry == found->permissions.end() ? PermissionSet() : entry->second;
}

bool Access::allows(std::string_view role, Permission permission, const Resource& resource) const {
  for (std::optional<Resource> level = resource; level; level = parent_of(*level))
    if (permissions_on(role, *level).contains(permission)) return true;
  return false;
}

base::Status Access::ensure(std::string_view role, Permission permission, const Resource& resource) const {
  if (allows(role, permission, resource)) return {};
  return base::fail(base::ErrorCode::unauthorized,
                    fmt::format("User {} has no {} permission on {} or any of its parents", role,
                                to_string(permission), to_string(resource)));
}

}  // namespace sibyl::auth
