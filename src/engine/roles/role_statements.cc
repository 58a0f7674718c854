#include "engine/roles/role_statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "auth/password.h"
#include "engine/roles/list_roles.h"
#include "plan/statements/without_roles.h"
#include "plan/terms/written_types.h"

namespace sibyl::engine {
namespace {

using auth::AccessRows;
using auth::Permission;
using auth::PermissionSet;
using auth::Resource;
using base::invalid;
using execute::ResultSet;

// The highest cost (base-2 logarithm of the rounds) of hashes that roles other than superusers may set.
constexpr int max_rounds = 12;

std::unexpected<base::Error> unauthorized(std::string message) {
  return base::fail(base::ErrorCode::unauthorized, std::move(message));
}

std::unexpected<base::Error> does_not_exist(const std::string& role) {
  return invalid(fmt::format("{} doesn't exist", role));
}

// The statement was parsed as CREATE USER: such users can log in, and are superusers only if the statement
// says so.
cql::RoleOptions options_of(const cql::CreateRole& statement) {
  cql::RoleOptions options = statement.options;
  if (!statement.is_user_syntax) return options;
  options.login = true;
  if (!options.superuser) options.superuser = false;
  return options;
}

bool sets_password(const cql::RoleOptions& options) {
  return options.password || options.hashed_password;
}

bool is_empty(const cql::RoleOptions& options) {
  return !options.password && !options.hashed_password && !options.generated_password && !options.superuser &&
         !options.login && !options.has_options;
}

PermissionSet set_of(const std::vector<std::string>& names) {
  if (names.empty()) return PermissionSet::all();
  PermissionSet set;
  for (const std::string& name : names)
    if (const auto permission = auth::permission_by_name(name)) set.add(*permission);
  return set;
}

base::Status check_builtin(const Resource& resource) {
  const bool of_functions =
      resource.kind == Resource::Kind::function || resource.kind == Resource::Kind::all_functions_in_keyspace;
  if (of_functions && resource.keyspace == "system")
    return invalid("Altering permissions on builtin functions is not supported");
  return {};
}

base::Result<Resource> function_of(const cql::Resource& written, const schema::Snapshot& schema) {
  const cql::QualifiedName& name = written.name;
  if (name.keyspace.empty())
    return invalid("In this context function name must be explictly qualified by a keyspace");
  const schema::KeyspacePtr keyspace = schema.find_keyspace(name.keyspace);
  const schema::Keyspace no_types;
  std::vector<types::TypePtr> arguments;
  for (const cql::RawType& raw : written.argument_types) {
    SIBYL_ASSIGN(types::TypePtr type, plan::resolve_type(raw, keyspace ? *keyspace : no_types));
    arguments.push_back(std::move(type));
  }
  return Resource::function(name.keyspace, name.name, std::move(arguments));
}

base::Result<Resource> resource_of(const cql::Resource& written, const std::string& keyspace,
                                   const schema::Snapshot& schema) {
  using Kind = cql::Resource::Kind;
  const cql::QualifiedName& name = written.name;
  switch (written.kind) {
    case Kind::all_keyspaces:
      return Resource::all_keyspaces();
    case Kind::keyspace:
      return Resource::of_keyspace(name.keyspace);
    case Kind::all_tables:
      return Resource::all_tables(name.keyspace);
    case Kind::table:
      if (name.keyspace.empty() && keyspace.empty())
        return invalid(
            "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename");
      return Resource::table(name.keyspace.empty() ? keyspace : name.keyspace, name.name);
    case Kind::all_roles:
      return Resource::all_roles();
    case Kind::role:
      return Resource::role(name.name);
    case Kind::all_functions:
      return Resource::all_functions();
    case Kind::all_functions_in_keyspace:
      return Resource::functions_in(name.keyspace);
    case Kind::function:
      return function_of(written, schema);
    case Kind::all_mbeans:
      return Resource::all_mbeans();
    case Kind::mbean:
    case Kind::mbeans:
      break;
  }
  return Resource::mbean(name.name);
}

// The permissions that a statement grants or revokes.
struct Grant {
  Resource resource;
  PermissionSet permissions;
};

base::Result<Grant> grant_of(const cql::GrantPermission& statement, const std::string& keyspace,
                             const schema::Snapshot& schema) {
  SIBYL_ASSIGN(Resource resource, resource_of(statement.resource, keyspace, schema));
  SIBYL_TRY(check_builtin(resource));
  const PermissionSet permissions =
      set_of(statement.permissions) & auth::applicable_permissions(resource.kind);
  if (permissions.empty())
    return base::fail(base::ErrorCode::syntax,
                      fmt::format("Resource type {} does not support any of the requested permissions",
                                  auth::class_of(resource.kind)));
  return Grant{std::move(resource), permissions};
}

// Runs one statement for one user. As in Cassandra, permissions are checked first, then whether the statement
// is valid.
class Runner {
 public:
  Runner(const auth::Login& login, const std::string& keyspace, const NewestSchema& newest_schema,
         Roles& roles, const std::string& datacenter)
      : user_(login.role),
        keyspace_(keyspace),
        newest_schema_(newest_schema),
        schema_(newest_schema()),
        roles_(roles),
        access_(roles.access()),
        datacenter_(datacenter) {}

  base::Result<ResultSet> operator()(const cql::CreateRole& statement) {
    const cql::RoleOptions options = options_of(statement);
    SIBYL_TRY(check_privilege(Permission::create, Resource::all_roles()));
    if (options.superuser.value_or(false) && !is_super())
      return unauthorized("Only superusers can create a role with superuser status");
    SIBYL_TRY(check_options(options));
    if (statement.name.empty()) return invalid("Role name can't be an empty string");
    SIBYL_TRY(check_access(options));
    if (find(statement.name)) {
      if (statement.if_not_exists) return ResultSet();
      return invalid(fmt::format("{} already exists", statement.name));
    }
    for (const auto& [identity, role] : access_->rows().identities)
      if (role == statement.name)
        return base::fail(
            base::ErrorCode::server,
            fmt::format("Cannot create a role '{}' when identities already exists for it", role));
    if (sets_password(options)) SIBYL_TRY(roles_.may_set_password(statement.name, true));
    SIBYL_ASSIGN(const std::optional<std::string> hash, hash_of(options));
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      if (!rows.roles.contains(user_)) return insufficient();  // dropped concurrently
      auto [at, is_new] = rows.roles.try_emplace(statement.name);
      if (!is_new) {  // created concurrently
        if (statement.if_not_exists) return {};
        return invalid(fmt::format("{} already exists", statement.name));
      }
      at->second = {options.superuser.value_or(false), options.login.value_or(false), hash, {}};
      rows.cidr_permissions[statement.name] = {};  // access from anywhere
      if (roles_.checks_permissions())
        grant(rows, user_, Resource::role(statement.name),
              auth::applicable_permissions(Resource::Kind::role));
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::AlterRole& statement) {
    const cql::RoleOptions& options = statement.options;
    SIBYL_TRY(may_alter(statement));
    SIBYL_TRY(check_options(options));
    if (is_empty(options) && !options.datacenters && !options.cidr_groups)
      return invalid("ALTER [ROLE|USER] can't be empty");
    SIBYL_TRY(check_access(options));
    if (!find(statement.name)) {
      if (statement.if_exists) return ResultSet();
      return invalid(fmt::format("Role {} doesn't exist", statement.name));
    }
    if (options.datacenters)
      return invalid("ACCESS TO DATACENTERS operations not supported by AllowAllNetworkAuthorizer");
    if (sets_password(options)) SIBYL_TRY(roles_.may_set_password(statement.name, false));
    SIBYL_ASSIGN(const std::optional<std::string> hash, hash_of(options));
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      const auto found = rows.roles.find(statement.name);
      if (found == rows.roles.end()) return invalid(fmt::format("Role {} doesn't exist", statement.name));
      auth::Role& role = found->second;
      role.is_superuser = options.superuser.value_or(role.is_superuser);
      role.can_login = options.login.value_or(role.can_login);
      if (hash) role.salted_hash = hash;
      if (options.cidr_groups) rows.cidr_permissions[statement.name] = {};
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::DropRole& statement) {
    const std::string& name = statement.name;
    SIBYL_TRY(check_privilege(Permission::drop, Resource::role(name)));
    if (find(name) && access_->is_superuser(name) && !is_super())
      return unauthorized("Only superusers can drop a role with superuser status");
    if (!find(name) && !statement.if_exists) return does_not_exist(name);
    if (name == user_) return invalid("Cannot DROP primary role for current login");
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      rows.roles.erase(name);
      for (auto& [member, role] : rows.roles) role.member_of.erase(name);
      std::erase_if(rows.identities, [&](const auto& entry) { return entry.second == name; });
      rows.cidr_permissions.erase(name);
      rows.permissions.erase(name);
      const std::string resource = auth::name_of(Resource::role(name));
      for (auto& [role, permissions] : rows.permissions) permissions.erase(resource);
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::GrantRole& statement) {
    const auto& [revoke, role, grantee] = statement;
    SIBYL_TRY(check_privilege(Permission::authorize, Resource::role(role)));
    if (!find(role)) return does_not_exist(role);
    if (!find(grantee)) return does_not_exist(grantee);
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      const auth::Access now(rows);
      const auto is_member = [&](const std::string& who, const std::string& of, bool inherited) {
        const auto all = now.roles_of(who, inherited);
        return std::binary_search(all.begin(), all.end(), of);
      };
      const auto found = rows.roles.find(grantee);
      if (found == rows.roles.end()) return does_not_exist(grantee);
      if (statement.revoke) {
        if (!is_member(grantee, role, false))
          return invalid(fmt::format("{} is not a member of {}", grantee, role));
        found->second.member_of.erase(role);
        return {};
      }
      if (!rows.roles.contains(role)) return does_not_exist(role);
      if (is_member(grantee, role, true)) return invalid(fmt::format("{} is a member of {}", grantee, role));
      if (is_member(role, grantee, true)) return invalid(fmt::format("{} is a member of {}", role, grantee));
      found->second.member_of.insert(role);
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::GrantPermission& statement) {
    SIBYL_ASSIGN(const Grant granted, grant_of(statement, keyspace_, *schema_));
    const auto& [resource, permissions] = granted;
    PermissionSet had;
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      SIBYL_TRY(may_grant(statement, resource, permissions));
      PermissionSet& set = rows.permissions[statement.grantee][auth::name_of(resource)];
      had = set;
      set = statement.revoke ? set - permissions : set | permissions;
      return {};
    }));
    ResultSet result;
    const PermissionSet without_effect = statement.revoke ? permissions - had : permissions & had;
    if (!without_effect.empty())
      result.warnings.push_back(fmt::format("Role '{}' was {} granted {} on {}", statement.grantee,
                                            statement.revoke ? "not" : "already", without_effect.text(),
                                            to_string(resource)));
    return result;
  }

  base::Result<ResultSet> operator()(const cql::AddIdentity& statement) {
    SIBYL_TRY(check_privilege(Permission::create, Resource::role(user_)));
    if (!find(statement.role))
      return invalid(fmt::format("Can not add identity for non-existent role '{}'", statement.role));
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      if (!rows.roles.contains(statement.role))
        return invalid(fmt::format("Can not add identity for non-existent role '{}'", statement.role));
      SIBYL_TRY(may_change_identity_of(statement.role, auth::Access(rows)));
      if (!rows.identities.try_emplace(statement.identity, statement.role).second && !statement.if_not_exists)
        return invalid(fmt::format("{} already exists", statement.identity));
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::DropIdentity& statement) {
    SIBYL_TRY(check_privilege(Permission::drop, Resource::role(user_)));
    SIBYL_TRY(roles_.change([&](AccessRows& rows) -> base::Status {
      const auto found = rows.identities.find(statement.identity);
      if (found == rows.identities.end()) {
        if (statement.if_exists) return {};
        return invalid(fmt::format("identity '{}' doesn't exist", statement.identity));
      }
      SIBYL_TRY(may_change_identity_of(found->second, auth::Access(rows)));
      rows.identities.erase(found);
      return {};
    }));
    return ResultSet();
  }

  base::Result<ResultSet> operator()(const cql::ListRoles& statement) {
    return list_roles(statement, user_, *access_, roles_.checks_permissions());
  }

  base::Result<ResultSet> operator()(const cql::ListPermissions& statement) {
    std::optional<Resource> resource;
    if (statement.resource) {
      SIBYL_ASSIGN(resource, resource_of(*statement.resource, keyspace_, *schema_));
      SIBYL_TRY(check_builtin(*resource));
      if (!exists(*resource, *schema_, access_->rows()))
        return invalid(fmt::format("{} doesn't exist", to_string(*resource)));
    }
    if (!statement.of.empty() && !find(statement.of))
      return does_not_exist(to_string(Resource::role(statement.of)));
    if (!roles_.checks_permissions())
      return invalid("LIST PERMISSIONS operation is not supported by AllowAllAuthorizer");
    return list_permissions({set_of(statement.permissions), resource, statement.of, statement.recursive},
                            user_, *access_);
  }

  template <typename Other>
  base::Result<ResultSet> operator()(const Other&) {
    return base::fail(base::ErrorCode::server, "Not a statement about roles");
  }

 private:
  const auth::Role* find(const std::string& role) const { return access_->find(role); }
  bool is_super() const { return access_->is_superuser(user_); }

  std::unexpected<base::Error> insufficient() const {
    return unauthorized(
        fmt::format("User {} does not have sufficient privileges to perform the requested operation", user_));
  }
  // REQUIRES: called within a change, so that nothing changes before the permission is granted.
  base::Status may_grant(const cql::GrantPermission& statement, const Resource& resource,
                         PermissionSet permissions) const {
    const auth::AccessPtr now = roles_.access();
    if (roles_.checks_permissions()) {
      SIBYL_TRY(now->ensure(user_, Permission::authorize, resource));
      for (const Permission permission : permissions.list())
        SIBYL_TRY(now->ensure(user_, permission, resource));
    }
    if (!now->find(statement.grantee))
      return invalid(fmt::format("Role {} doesn't exist", statement.grantee));
    if (!exists(resource, *newest_schema_(), now->rows()))
      return invalid(fmt::format("Resource {} doesn't exist", to_string(resource)));
    if (roles_.checks_permissions()) return {};
    return base::fail(base::ErrorCode::server,
                      fmt::format("java.lang.UnsupportedOperationException: {} operation is not supported by "
                                  "AllowAllAuthorizer",
                                  statement.revoke ? "REVOKE" : "GRANT"));
  }

  // For statements about roles. If permissions are not checked, only superusers may manage roles; otherwise
  // every user could become a superuser.
  base::Status check_privilege(Permission permission, const Resource& resource) const {
    const bool may = roles_.checks_permissions() ? access_->allows(user_, permission, resource) : is_super();
    if (!may) return insufficient();
    return {};
  }

  // Setting the identities of a role gives access to the role. So it needs the same permission as setting the
  // password, and cannot be used to become a superuser. `now` are the roles at the time of the change.
  base::Status may_change_identity_of(const std::string& role, const auth::Access& now) const {
    if (now.is_superuser(user_)) return {};
    if (now.is_superuser(role))
      return unauthorized("Only superusers can change identities of a role with superuser status");
    if (!roles_.checks_permissions() || !now.allows(user_, Permission::alter, Resource::role(role)))
      return insufficient();
    return {};
  }

  base::Status may_alter(const cql::AlterRole& statement) const {
    const cql::RoleOptions& options = statement.options;
    if (options.superuser) {
      const auto own = access_->roles_of(user_, true);
      if (std::binary_search(own.begin(), own.end(), statement.name))
        return unauthorized(
            "You aren't allowed to alter your own superuser status or that of a role granted to you");
      if (!is_super()) return unauthorized("Only superusers are allowed to alter superuser status");
    }
    if (is_super()) return {};
    if (options.datacenters)
      return unauthorized("Only superusers are allowed to alter access to datacenters.");
    if (options.cidr_groups)
      return unauthorized("Only superusers are allowed to alter access from CIDR groups.");
    if (user_ != statement.name) return check_privilege(Permission::alter, Resource::role(statement.name));
    const bool has_passwords = roles_.has_passwords();
    const char* refused = options.login                               ? "LOGIN"
                          : options.has_options                       ? "OPTIONS"
                          : options.password && !has_passwords        ? "PASSWORD"
                          : options.hashed_password && !has_passwords ? "HASHED_PASSWORD"
                                                                      : nullptr;
    if (refused == nullptr) return {};
    return unauthorized(fmt::format("You aren't allowed to alter {}", refused));
  }

  base::Status check_options(const cql::RoleOptions& options) const {
    const bool has_passwords = roles_.has_passwords();
    const char* refused = options.has_options                         ? "OPTIONS"
                          : options.password && !has_passwords        ? "PASSWORD"
                          : options.hashed_password && !has_passwords ? "HASHED_PASSWORD"
                          : options.generated_password                ? "GENERATED_PASSWORD"
                                                                      : nullptr;
    if (refused != nullptr)
      return invalid(
          fmt::format("org.apache.cassandra.auth.CassandraRoleManager doesn't support {}", refused));
    if (options.hashed_password && !auth::is_hash(*options.hashed_password))
      return invalid("Invalid hashed password value. Please use jBcrypt.");
    // Every login computes the hash, even a login that fails.
    if (options.hashed_password && auth::cost_of(*options.hashed_password) > max_rounds && !is_super())
      return unauthorized(
          fmt::format("Only superusers can set a hashed password of more than 2^{} rounds", max_rounds));
    return {};
  }

  // There is one datacenter, and there are no CIDR groups.
  base::Status check_access(const cql::RoleOptions& options) const {
    if (options.datacenters)
      for (const std::string& name : *options.datacenters)
        if (name != datacenter_)
          return invalid(
              fmt::format("Invalid value(s) for DATACENTERS '[{}]',All values must be valid datacenters",
                          fmt::join(*options.datacenters, ", ")));
    if (options.cidr_groups && !options.cidr_groups->empty())
      return invalid(fmt::format("Invalid CIDR group(s): [{}]. Available CIDR Groups are: []",
                                 fmt::join(*options.cidr_groups, ", ")));
    return {};
  }

  static base::Result<std::optional<std::string>> hash_of(const cql::RoleOptions& options) {
    if (options.hashed_password) return options.hashed_password;
    if (!options.password) return std::nullopt;
    SIBYL_ASSIGN(std::string hash, auth::hash_password(*options.password));
    return hash;
  }

  static void grant(AccessRows& rows, const std::string& role, const Resource& resource,
                    PermissionSet permissions) {
    PermissionSet& set = rows.permissions[role][auth::name_of(resource)];
    set = set | permissions;
  }

  const std::string& user_;
  const std::string& keyspace_;
  const NewestSchema& newest_schema_;
  const schema::SnapshotPtr schema_;
  Roles& roles_;
  const auth::AccessPtr access_;
  const std::string& datacenter_;
};

// Rejects statements about roles on a server without logins, or of a client that has not logged in.
struct Refuse {
  const std::string& keyspace;
  const schema::Snapshot& schema;

  base::Status operator()(const cql::CreateRole& statement) const {
    return plan::refuse_without_login(statement);
  }
  base::Status operator()(const cql::AlterRole& statement) const {
    return plan::refuse_without_login(statement);
  }
  base::Status operator()(const cql::GrantPermission& statement) const {
    SIBYL_TRY(grant_of(statement, keyspace, schema));
    return plan::refuse_without_login();
  }
  template <typename Other>
  base::Status operator()(const Other&) const {
    return plan::refuse_without_login();
  }
};

}  // namespace

base::Result<ResultSet> run_role_statement(const cql::Statement& statement, const auth::Login* login,
                                           const std::string& keyspace, const NewestSchema& schema,
                                           Roles& roles, const std::string& datacenter) {
  if (login == nullptr) {
    SIBYL_TRY(std::visit(Refuse{keyspace, *schema()}, statement.node));
    return base::fail(base::ErrorCode::server, "No role is logged in");
  }
  return std::visit(Runner(*login, keyspace, schema, roles, datacenter), statement.node);
}

}  // namespace sibyl::engine
