#include "plan/statements/without_roles.h"

#include <fmt/format.h>

namespace sibyl::plan {
namespace {

std::unexpected<base::Error> unauthorized(const char* message) {
  return base::fail(base::Error(base::ErrorCode::unauthorized, message)
                        .with_hint("this server has no authentication, so every client may do everything: "
                                   "see the setting `authenticator`"));
}

// Options that only a server with passwords accepts.
base::Status check_options(const cql::RoleOptions& options) {
  const char* refused = options.has_options          ? "OPTIONS"
                        : options.password           ? "PASSWORD"
                        : options.hashed_password    ? "HASHED_PASSWORD"
                        : options.generated_password ? "GENERATED_PASSWORD"
                                                     : nullptr;
  if (refused == nullptr) return {};
  return base::invalid(
      fmt::format("org.apache.cassandra.auth.CassandraRoleManager doesn't support {}", refused));
}

bool is_empty(const cql::RoleOptions& options) {
  return !options.password && !options.hashed_password && !options.generated_password && !options.superuser &&
         !options.login && !options.has_options && !options.datacenters && !options.cidr_groups;
}

}  // namespace

base::Status refuse_without_login() {
  return unauthorized("You have to be logged in and not anonymous to perform this request");
}

base::Status refuse_without_login(const cql::CreateRole& statement) {
  if (statement.options.superuser.value_or(false))
    return unauthorized("Only superusers can create a role with superuser status");
  SIBYL_TRY(check_options(statement.options));
  return refuse_without_login();
}

base::Status refuse_without_login(const cql::AlterRole& statement) {
  if (is_empty(statement.options)) return base::invalid("ALTER [ROLE|USER] can't be empty");
  if (statement.options.superuser)
    return unauthorized("Only superusers are allowed to alter superuser status");
  if (statement.options.datacenters)
    return unauthorized("Only superusers are allowed to alter access to datacenters.");
  SIBYL_TRY(check_options(statement.options));
  return refuse_without_login();
}

}  // namespace sibyl::plan
