// Roles, users, identities, permissions.
#include <utility>

#include "cql/keyword.h"
#include "cql/statement_parser.h"

namespace sibyl::cql {

// --- Roles and users

CreateRole Parser::create_role() {
  CreateRole result;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.name = role_name();
  if (accept(TokenKind::kw_with)) role_options(result.options);
  check_passwords(result.options);
  return result;
}

AlterRole Parser::alter_role() {
  AlterRole result;
  advance();
  result.if_exists = accept_if_exists();
  result.name = role_name();
  if (accept(TokenKind::kw_with)) role_options(result.options);
  check_passwords(result.options);
  return result;
}

DropRole Parser::drop_role() {
  DropRole result;
  advance();
  result.if_exists = accept_if_exists();
  result.name = role_name();
  return result;
}

CreateRole Parser::create_user() {
  CreateRole result;
  result.is_user_syntax = true;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.name = user_name(
      "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE");
  user_options(result.options);
  return result;
}

AlterRole Parser::alter_user() {
  AlterRole result;
  result.is_user_syntax = true;
  advance();
  result.if_exists = accept_if_exists();
  result.name = user_name(
      "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE");
  user_options(result.options);
  return result;
}

DropRole Parser::drop_user() {
  DropRole result;
  result.is_user_syntax = true;
  advance();
  result.if_exists = accept_if_exists();
  result.name = user_name(
      "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE");
  return result;
}

// Users and identities keep their case, with or without quotes.
std::string Parser::user_name(std::string_view complaint) {
  if (is(TokenKind::quoted_name)) reject(std::string(complaint));
  if (!is(TokenKind::identifier) && !is(TokenKind::string)) no_viable_alternative();
  std::string result = text_of(token_);
  advance();
  return result;
}

void Parser::user_options(RoleOptions& options) {
  if (accept(TokenKind::kw_with)) {
    if (accept(TokenKind::kw_password)) {
      options.password = expect_string();
    } else if (accept(TokenKind::kw_hashed)) {
      expect(TokenKind::kw_password);
      options.hashed_password = expect_string();
    } else if (accept(TokenKind::kw_generated)) {
      expect(TokenKind::kw_password);
      options.generated_password = true;
    } else {
      no_viable_alternative();
    }
  }
  if (accept(TokenKind::kw_superuser)) {
    options.superuser = true;
  } else if (accept(TokenKind::kw_nosuperuser)) {
    options.superuser = false;
  }
}

void Parser::role_options(RoleOptions& options) {
  do role_option(options);
  while (accept(TokenKind::kw_and_));
}

void Parser::role_option(RoleOptions& options) {
  const auto boolean = [this] {
    expect(TokenKind::equal);
    return folded(expect(TokenKind::boolean)) == "true";
  };
  const auto once = [this](bool already, const char* option) {
    if (already) reject(std::string("Multiple definition for property '") + option + "'");
  };
  switch (kind()) {
    case TokenKind::kw_password:
      advance();
      expect(TokenKind::equal);
      once(options.password.has_value(), "PASSWORD");
      options.password = expect_string();
      return;
    case TokenKind::kw_hashed:
      advance();
      expect(TokenKind::kw_password);
      expect(TokenKind::equal);
      once(options.hashed_password.has_value(), "HASHED_PASSWORD");
      options.hashed_password = expect_string();
      return;
    case TokenKind::kw_generated:
      advance();
      expect(TokenKind::kw_password);
      options.generated_password = true;
      return;
    case TokenKind::kw_options:
      advance();
      expect(TokenKind::equal);
      once(options.has_options, "OPTIONS");
      options.options = property_map();
      options.has_options = true;
      return;
    case TokenKind::kw_superuser:
      advance();
      once(options.superuser.has_value(), "SUPERUSER");
      options.superuser = boolean();
      return;
    case TokenKind::kw_login:
      advance();
      once(options.login.has_value(), "LOGIN");
      options.login = boolean();
      return;
    case TokenKind::kw_access:
      return access_option(options);
    default:
      no_viable_alternative();
  }
}

// ACCESS TO {ALL DATACENTERS | DATACENTERS {'a', 'b'}}, ACCESS FROM {ALL CIDRS | CIDRS {'a', 'b'}}
void Parser::access_option(RoleOptions& options) {
  const Token first = token_;
  advance();
  const bool cidrs = is(TokenKind::kw_from);
  if (!cidrs && !is(TokenKind::kw_to)) no_viable_alternative(token_, first);
  advance();
  std::optional<std::vector<std::string>>& target = cidrs ? options.cidr_groups : options.datacenters;
  const TokenKind word = cidrs ? TokenKind::kw_cidrs : TokenKind::kw_datacenters;
  if (accept(TokenKind::kw_all)) {
    expect(word);
    target.emplace();
    return;
  }
  if (!is(word)) no_viable_alternative(token_, first);
  advance();
  if (!target) target.emplace();
  expect(TokenKind::left_brace);
  do target->push_back(expect_string());
  while (accept(TokenKind::comma));
  expect(TokenKind::right_brace);
}

void Parser::check_passwords(const RoleOptions& options) {
  const char* pair = nullptr;
  if (options.password && options.hashed_password) {
    pair = "'password' and 'hashed password'";
  } else if (options.password && options.generated_password) {
    pair = "'password' and 'generated password'";
  } else if (options.hashed_password && options.generated_password) {
    pair = "'hashed password' and 'generated password'";
  }
  if (pair != nullptr) reject(std::string("Options ") + pair + " are mutually exclusive");
}

AddIdentity Parser::add_identity() {
  AddIdentity result;
  advance();
  expect(TokenKind::kw_identity);
  result.if_not_exists = accept_if_not_exists();
  result.identity = user_name("Quoted strings are are not supported for identity");
  expect(TokenKind::kw_to);
  expect(TokenKind::kw_role);
  result.role = user_name("Quoted strings are are not supported for identity");
  return result;
}

DropIdentity Parser::drop_identity() {
  DropIdentity result;
  advance();
  result.if_exists = accept_if_exists();
  result.identity = user_name("Quoted strings are are not supported for identity");
  return result;
}

// --- Permissions

static bool is_permission(TokenKind kind) {
  switch (kind) {
    case TokenKind::kw_create:
    case TokenKind::kw_alter:
    case TokenKind::kw_drop:
    case TokenKind::kw_select:
    case TokenKind::kw_modify:
    case TokenKind::kw_authorize:
    case TokenKind::kw_describe:
    case TokenKind::kw_execute:
    case TokenKind::kw_unmask:
    case TokenKind::kw_select_masked:
      return true;
    default:
      return false;
  }
}

// ALL, UNMASK and SELECT_MASKED may also be roles: GRANT all TO someone.
bool Parser::at_permissions() {
  if (is(TokenKind::kw_all)) return is_ahead(1, TokenKind::kw_on) || is_ahead(1, TokenKind::kw_permissions);
  if (!is_permission(kind())) return false;
  if (!is_name(kind())) return true;
  return is_ahead(1, TokenKind::kw_on) || is_ahead(1, TokenKind::comma) ||
         is_ahead(1, TokenKind::kw_permission);
}

// Parses permissions. An empty list means ALL.
std::vector<std::string> Parser::permissions() {
  std::vector<std::string> result;
  if (accept(TokenKind::kw_all)) {
    accept(TokenKind::kw_permissions);
    return result;
  }
  do {
    if (!is_permission(kind())) mismatched("set null");
    std::string permission = folded(token_);
    for (char& c : permission) c = c == '_' ? c : static_cast<char>(c - 32);
    result.push_back(std::move(permission));
    advance();
    accept(TokenKind::kw_permission);
  } while (accept(TokenKind::comma));
  return result;
}

void Parser::grant_or_revoke(Statement& result, bool revoke) {
  const Token first = token_;
  advance();
  const TokenKind direction = revoke ? TokenKind::kw_from : TokenKind::kw_to;
  if (!at_permissions()) {
    if (!is_name(kind()) && !is(TokenKind::string) && !is(TokenKind::question_mark))
      no_viable_alternative(token_, first);
    const bool undecided = is(TokenKind::kw_all) || is_permission(kind());
    if (undecided && !is_ahead(1, direction)) no_viable_alternative(ahead(1), first);
    GrantRole node;
    node.revoke = revoke;
    node.role = role_name();
    expect(direction);
    node.grantee = role_name();
    result.node = std::move(node);
    return;
  }
  GrantPermission node;
  node.revoke = revoke;
  node.permissions = permissions();
  expect(TokenKind::kw_on);
  node.resource = resource();
  expect(direction);
  node.grantee = role_name();
  result.node = std::move(node);
}

void Parser::list(Statement& result) {
  const Token first = token_;
  advance();
  if (is(TokenKind::kw_roles) || is(TokenKind::kw_users) || is(TokenKind::kw_superusers)) {
    ListRoles node;
    node.users = is(TokenKind::kw_users);
    node.superusers = is(TokenKind::kw_superusers);
    advance();
    if (!node.users && !node.superusers) {
      if (accept(TokenKind::kw_of)) node.of = role_name();
      node.recursive = !accept(TokenKind::kw_norecursive);
    }
    result.node = std::move(node);
    return;
  }
  if (!is(TokenKind::kw_all) && !is_permission(kind())) no_viable_alternative(token_, first);
  ListPermissions node;
  node.permissions = permissions();
  if (accept(TokenKind::kw_on)) node.resource = resource();
  if (accept(TokenKind::kw_of)) node.of = role_name();
  node.recursive = !accept(TokenKind::kw_norecursive);
  result.node = std::move(node);
}

Resource Parser::resource() {
  Resource result;
  result.name.position = position();
  // Some of these words may also name a table; then TO, FROM, OF or a dot follows.
  const auto names_resource = [this] { return is_name(ahead(1).kind) || is_ahead(1, TokenKind::string); };
  switch (kind()) {
    case TokenKind::kw_all:
      if (!is_ahead(1, TokenKind::dot) && !follows_table_name(ahead(1).kind)) return resource_of_all();
      break;
    case TokenKind::kw_keyspace:
    case TokenKind::kw_schema:
      advance();
      result.kind = Resource::Kind::keyspace;
      result.name.keyspace = keyspace_name();
      return result;
    case TokenKind::kw_role:
      if (!names_resource()) break;
      advance();
      result.kind = Resource::Kind::role;
      result.name.name = role_name();
      return result;
    case TokenKind::kw_function:
      if (!names_resource()) break;
      advance();
      result.kind = Resource::Kind::function;
      result.name = function_name();
      result.argument_types = type_list_in_parentheses();
      return result;
    case TokenKind::kw_mbean:
    case TokenKind::kw_mbeans: {
      if (!names_resource()) break;
      result.kind = is(TokenKind::kw_mbean) ? Resource::Kind::mbean : Resource::Kind::mbeans;
      advance();
      result.name.name = expect_string();
      if (result.name.name.empty()) reject("Empty JMX object name supplied");
      if (result.name.name == "*:*") reject("Please use ALL MBEANS instead of wildcard pattern");
      return result;
    }
    default:
      accept(TokenKind::kw_columnfamily);
      break;
  }
  result.kind = Resource::Kind::table;
  result.name = table_name();
  return result;
}

Resource Parser::resource_of_all() {
  Resource result;
  result.name.position = position();
  const Token first = token_;
  advance();
  switch (kind()) {
    case TokenKind::kw_keyspaces:
      result.kind = Resource::Kind::all_keyspaces;
      break;
    case TokenKind::kw_roles:
      result.kind = Resource::Kind::all_roles;
      break;
    case TokenKind::kw_mbeans:
      result.kind = Resource::Kind::all_mbeans;
      break;
    case TokenKind::kw_functions:
      result.kind = Resource::Kind::all_functions;
      break;
    case TokenKind::kw_tables:
      result.kind = Resource::Kind::all_tables;
      break;
    default:
      no_viable_alternative(token_, first);
  }
  advance();
  const bool tables = result.kind == Resource::Kind::all_tables;
  const bool functions = result.kind == Resource::Kind::all_functions;
  if (functions && !is(TokenKind::kw_in) && !follows_table_name(kind())) no_viable_alternative(token_, first);
  if (!tables && (!functions || !is(TokenKind::kw_in))) return result;
  expect(TokenKind::kw_in);
  if (!accept(TokenKind::kw_schema)) expect(TokenKind::kw_keyspace);
  if (!tables) result.kind = Resource::Kind::all_functions_in_keyspace;
  result.name.keyspace = keyspace_name();
  return result;
}

}  // namespace sibyl::cql
