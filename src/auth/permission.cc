#include "auth/permission.h"

namespace sibyl::auth {
namespace {

constexpr const char* names[permission_count] = {"CREATE", "ALTER",        "DROP",     "SELECT",
                                                 "MODIFY", "AUTHORIZE",    "DESCRIBE", "EXECUTE",
                                                 "UNMASK", "SELECT_MASKED"};

}  // namespace

const char* to_string(Permission permission) {
  return names[static_cast<unsigned>(permission)];
}

std::optional<Permission> permission_by_name(std::string_view name) {
  for (unsigned i = 0; i < permission_count; ++i)
    if (name == names[i]) return static_cast<Permission>(i);
  return std::nullopt;
}

std::vector<Permission> PermissionSet::list() const {
  std::vector<Permission> result;
  for (unsigned i = 0; i < permission_count; ++i)
    if (contains(static_cast<Permission>(i))) result.push_back(static_cast<Permission>(i));
  return result;
}

std::string PermissionSet::text() const {
  std::string result;
  for (const Permission permission : list())
    result.append(result.empty() ? "" : ", ").append(to_string(permission));
  return result;
}

}  // namespace sibyl::auth
