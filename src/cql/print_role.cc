#include "cql/writer.h"

namespace sibyl::cql {

// --- Roles and users

void Writer::role(std::string_view name, bool user_syntax) {
  if (user_syntax || name.empty()) {
    string(name);
  } else {
    guarded_name(name);
  }
}

void Writer::access(std::string_view from, std::string_view what, const std::vector<std::string>& list) {
  put("ACCESS ").put(from).put(list.empty() ? " ALL " : " ").put(what);
  if (list.empty()) return;
  put(" {");
  separated(list, ", ", [this](const std::string& item) { string(item); });
  put("}");
}

void Writer::role_options(const RoleOptions& options) {
  const char* glue = " WITH ";
  const auto next = [&](std::string_view text) {
    put(glue).put(text);
    glue = " AND ";
  };
  if (options.password) {
    next("PASSWORD = ");
    string(*options.password);
  }
  if (options.hashed_password) {
    next("HASHED PASSWORD = ");
    string(*options.hashed_password);
  }
  if (options.generated_password) next("GENERATED PASSWORD");
  if (options.superuser) next(*options.superuser ? "SUPERUSER = true" : "SUPERUSER = false");
  if (options.login) next(*options.login ? "LOGIN = true" : "LOGIN = false");
  if (options.has_options) {
    next("OPTIONS = ");
    property_map(options.options);
  }
  if (options.datacenters) {
    next("");
    access("TO", "DATACENTERS", *options.datacenters);
  }
  if (options.cidr_groups) {
    next("");
    access("FROM", "CIDRS", *options.cidr_groups);
  }
}

void Writer::user_options(const RoleOptions& options) {
  if (options.password) {
    put(" WITH PASSWORD ");
    string(*options.password);
  } else if (options.hashed_password) {
    put(" WITH HASHED PASSWORD ");
    string(*options.hashed_password);
  } else if (options.generated_password) {
    put(" WITH GENERATED PASSWORD");
  }
  if (options.superuser) put(*options.superuser ? " SUPERUSER" : " NOSUPERUSER");
}

void Writer::node(const CreateRole& node) {
  put(node.is_user_syntax ? "CREATE USER " : "CREATE ROLE ");
  if_not_exists(node.if_not_exists);
  role(node.name, node.is_user_syntax);
  node.is_user_syntax ? user_options(node.options) : role_options(node.options);
}

void Writer::node(const AlterRole& node) {
  put(node.is_user_syntax ? "ALTER USER " : "ALTER ROLE ");
  if_exists(node.if_exists);
  role(node.name, node.is_user_syntax);
  node.is_user_syntax ? user_options(node.options) : role_options(node.options);
}

void Writer::node(const DropRole& node) {
  put(node.is_user_syntax ? "DROP USER " : "DROP ROLE ");
  if_exists(node.if_exists);
  role(node.name, node.is_user_syntax);
}

void Writer::node(const GrantRole& node) {
  put(node.revoke ? "REVOKE " : "GRANT ");
  role(node.role);
  put(node.revoke ? " FROM " : " TO ");
  role(node.grantee);
}

void Writer::node(const ListRoles& node) {
  put(node.users ? "LIST USERS" : node.superusers ? "LIST SUPERUSERS" : "LIST ROLES");
  if (!node.of.empty()) {
    put(" OF ");
    role(node.of);
  }
  if (!node.recursive) put(" NORECURSIVE");
}

void Writer::node(const AddIdentity& node) {
  put("ADD IDENTITY ");
  if_not_exists(node.if_not_exists);
  string(node.identity);
  put(" TO ROLE ");
  string(node.role);
}

void Writer::node(const DropIdentity& node) {
  put("DROP IDENTITY ");
  if_exists(node.if_exists);
  string(node.identity);
}

// --- Permissions

void Writer::permissions(const std::vector<std::string>& list) {
  if (list.empty()) put("ALL PERMISSIONS");
  separated(list, ", ", [this](const std::string& item) { put(item); });
}

void Writer::resource(const Resource& resource) {
  using Kind = Resource::Kind;
  switch (resource.kind) {
    case Kind::all_keyspaces:
      put("ALL KEYSPACES");
      return;
    case Kind::all_roles:
      put("ALL ROLES");
      return;
    case Kind::all_functions:
      put("ALL FUNCTIONS");
      return;
    case Kind::all_mbeans:
      put("ALL MBEANS");
      return;
    case Kind::keyspace:
      put("KEYSPACE ");
      break;
    case Kind::all_tables:
      put("ALL TABLES IN KEYSPACE ");
      break;
    case Kind::all_functions_in_keyspace:
      put("ALL FUNCTIONS IN KEYSPACE ");
      break;
    case Kind::table:
      put("TABLE ");
      return qualified(resource.name);
    case Kind::role:
      put("ROLE ");
      return role(resource.name.name);
    case Kind::mbean:
      put("MBEAN ");
      return string(resource.name.name);
    case Kind::mbeans:
      put("MBEANS ");
      return string(resource.name.name);
    case Kind::function:
      put("FUNCTION ");
      function_name(resource.name);
      put("(");
      types(resource.argument_types);
      put(")");
      return;
  }
  name(resource.name.keyspace);
}

void Writer::node(const GrantPermission& node) {
  put(node.revoke ? "REVOKE " : "GRANT ");
  permissions(node.permissions);
  put(" ON ");
  resource(node.resource);
  put(node.revoke ? " FROM " : " TO ");
  role(node.grantee);
}

void Writer::node(const ListPermissions& node) {
  put("LIST ");
  permissions(node.permissions);
  if (node.resource) {
    put(" ON ");
    resource(*node.resource);
  }
  if (!node.of.empty()) {
    put(" OF ");
    role(node.of);
  }
  if (!node.recursive) put(" NORECURSIVE");
}

// --- DESCRIBE

void Writer::node(const Describe& node) {
  using Kind = Describe::Kind;
  static constexpr const char* words[] = {
      "CLUSTER",    "SCHEMA",    "KEYSPACES", "KEYSPACE",          "TABLES",
      "TABLE",      "TYPES",     "TYPE",      "FUNCTIONS",         "FUNCTION",
      "AGGREGATES", "AGGREGATE", "INDEX",     "MATERIALIZED VIEW", ""};
  put("DESCRIBE ");
  if (node.full) put("FULL ");
  if (node.only) put("ONLY ");
  put(words[static_cast<size_t>(node.kind)]);
  if (node.kind == Kind::keyspace) {
    if (!node.name.keyspace.empty()) {
      put(" ");
      name(node.name.keyspace);
    }
  } else if (!node.name.name.empty()) {
    if (node.kind != Kind::anything) put(" ");
    if (!node.name.keyspace.empty()) {
      guarded_name(node.name.keyspace);
      put(".");
    }
    guarded_name(node.name.name);
  }
  if (node.with_internals) put(" WITH INTERNALS");
}

}  // namespace sibyl::cql
