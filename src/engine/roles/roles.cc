#include "engine/roles/roles.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <vector>

#include "auth/password.h"
#include "base/check.h"
#include "cql/parser.h"
#include "engine/system_rows.h"
#include "engine/system_tables/system_tables.h"
#include "execute/read/select.h"
#include "types/elements.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using auth::AccessRows;
using auth::Resource;
using storage::WriteSet;

constexpr const char* first_role = "cassandra";  // also its password

// --- Reading

using Row = std::vector<std::optional<Bytes>>;

base::Result<std::vector<Row>> select_all(const std::string& text, const schema::SnapshotPtr& schema,
                                          execute::Environment& environment) {
  SIBYL_ASSIGN(std::shared_ptr<const cql::Statement> statement, cql::parse_statement(text));
  SIBYL_ASSIGN(plan::PreparedPtr plan, plan::prepare(std::move(statement), text, "", schema));
  SIBYL_ASSIGN(execute::ResultSet result, execute::select(*plan, {}, environment));
  const size_t columns = result.metadata->columns.size();
  std::vector<Row> rows;
  BytesView rest = result.rows.bytes();
  for (size_t i = 0; i < result.rows.count(); ++i) {
    Row& row = rows.emplace_back();
    for (size_t column = 0; column < columns; ++column) {
      const auto size = static_cast<int32_t>(base::read_big_endian<uint32_t>(rest));
      rest.remove_prefix(4);
      if (size < 0) {
        row.emplace_back();
      } else {
        row.emplace_back(rest.substr(0, static_cast<size_t>(size)));
        rest.remove_prefix(static_cast<size_t>(size));
      }
    }
  }
  return rows;
}

std::set<std::string> texts_of(const std::optional<Bytes>& set) {
  std::set<std::string> texts;
  if (!set) return texts;
  static const types::TypePtr type = types::set_of(types::scalar(types::Kind::text), true);
  if (const auto elements = types::split(*type, *set))
    for (const auto& element : *elements)
      if (element) texts.emplace(*element);
  return texts;
}

bool is_true(const std::optional<Bytes>& boolean) {
  return boolean && !boolean->empty() && types::decode_boolean(*boolean);
}

// --- Writing the differences

std::vector<std::string> names_of(auth::PermissionSet permissions) {
  std::vector<std::string> names;
  for (const auth::Permission permission : permissions.list()) names.emplace_back(to_string(permission));
  return names;
}

SystemRow row_of(const std::string& name, const auth::Role& role) {
  SystemRow row = {{"role", name},
                   {"can_login", types::encode_boolean(role.can_login)},
                   {"is_superuser", types::encode_boolean(role.is_superuser)},
                   {"member_of", text_set({role.member_of.begin(), role.member_of.end()})}};
  if (role.salted_hash) row.emplace_back("salted_hash", *role.salted_hash);
  return row;
}

class Difference {
 public:
  Difference(const AccessRows& before, const AccessRows& after, int64_t now)
      : before_(before), after_(after), now_(now) {}

  WriteSet writes() {
    each(before_.roles, after_.roles, [this](const std::string& name, const auto* old, const auto* fresh) {
      put_or_erase("roles", fresh ? row_of(name, *fresh) : SystemRow{{"role", name}}, fresh != nullptr);
      members(name, old, fresh);
    });
    static const std::map<std::string, auth::PermissionSet, std::less<>> none;
    each(before_.permissions, after_.permissions,
         [this](const std::string& role, const auto* old, const auto* fresh) {
           each(old ? *old : none, fresh ? *fresh : none,
                [&](const std::string& resource, const auto*, const auto* set) {
                  permissions(role, resource, set);
                });
         });
    each(before_.identities, after_.identities,
         [this](const std::string& identity, const auto*, const auto* role) {
           SystemRow row = {{"identity", identity}};
           if (role) row.emplace_back("role", *role);
           put_or_erase("identity_to_role", row, role != nullptr);
         });
    each(before_.cidr_permissions, after_.cidr_permissions,
         [this](const std::string& role, const auto*, const auto* groups) {
           SystemRow row = {{"role", role}};
           if (groups) row.emplace_back("cidr_groups", text_set({groups->begin(), groups->end()}));
           put_or_erase("cidr_permissions", row, groups != nullptr);
         });
    return std::move(writes_);
  }

 private:
  // Calls `visit(key, old, new)` for each difference; nullptr: there is no such element.
  template <typename Map, typename Visit>
  static void each(const Map& before, const Map& after, Visit visit) {
    for (const auto& [key, value] : before)
      if (!after.contains(key)) visit(key, &value, static_cast<const typename Map::mapped_type*>(nullptr));
    for (const auto& [key, value] : after) {
      const auto found = before.find(key);
      if (found == before.end()) {
        visit(key, static_cast<const typename Map::mapped_type*>(nullptr), &value);
      } else if (!(found->second == value)) {
        visit(key, &found->second, &value);
      }
    }
  }

  void put_or_erase(const char* table_name, const SystemRow& row, bool put) {
    const schema::Table& table = system_table("system_auth", table_name);
    if (put) {
      put_row(table, row, now_, writes_);
    } else {
      erase_row(table, row, writes_);
    }
  }

  void members(const std::string& name, const auth::Role* old, const auth::Role* fresh) {
    if (old)
      for (const std::string& role : old->member_of)
        if (!fresh || !fresh->member_of.contains(role))
          put_or_erase("role_members", {{"role", role}, {"member", name}}, false);
    if (fresh)
      for (const std::string& role : fresh->member_of)
        if (!old || !old->member_of.contains(role))
          put_or_erase("role_members", {{"role", role}, {"member", name}}, true);
  }

  void permissions(const std::string& role, const std::string& resource, const auth::PermissionSet* set) {
    SystemRow row = {{"role", role}, {"resource", resource}};
    put_or_erase("resource_role_permissons_index", row, set != nullptr);
    if (set) row.emplace_back("permissions", text_set(names_of(*set)));
    put_or_erase("role_permissions", row, set != nullptr);
  }

  const AccessRows& before_;
  const AccessRows& after_;
  const int64_t now_;
  WriteSet writes_;
};

// Revokes every permission on resources that are not in the schema.
void revoke_missing(AccessRows& rows, const schema::Snapshot& schema) {
  for (auto& [role, permissions] : rows.permissions)
    std::erase_if(permissions, [&](const auto& entry) {
      const auto resource = auth::resource_by_name(entry.first);
      return !resource || !exists(*resource, schema, rows);
    });
  std::erase_if(rows.permissions, [&](const auto& entry) { return !rows.roles.contains(entry.first); });
}

base::Error bad_credentials(std::string message) {
  return base::Error(base::ErrorCode::bad_credentials, std::move(message));
}

}  // namespace

bool exists(const Resource& resource, const schema::Snapshot& schema, const AccessRows& rows) {
  using Kind = Resource::Kind;
  const schema::KeyspacePtr keyspace = schema.find_keyspace(resource.keyspace);
  switch (resource.kind) {
    case Kind::keyspace:
    case Kind::all_tables:
    case Kind::all_functions_in_keyspace:
      return keyspace != nullptr;
    case Kind::table:
      return keyspace != nullptr && keyspace->find_table(resource.name) != nullptr;
    case Kind::role:
      return rows.roles.contains(resource.name);
    case Kind::function: {
      if (!keyspace) return false;
      const std::string signature = schema::signature_of(resource.name, resource.argument_types);
      return keyspace->functions.contains(signature) || keyspace->aggregates.contains(signature);
    }
    default:
      return true;
  }
}

base::Result<AccessRows> Roles::read() {
  AccessRows rows;
  const auto read_table = [&](const char* text) { return select_all(text, system_schema_, environment_); };
  SIBYL_ASSIGN(const auto roles, read_table("SELECT role, is_superuser, can_login, salted_hash, member_of "
                                            "FROM system_auth.roles"));
  for (const Row& row : roles)
    rows.roles[*row[0]] = {is_true(row[1]), is_true(row[2]), row[3], texts_of(row[4])};
  SIBYL_ASSIGN(const auto permissions,
               read_table("SELECT role, resource, permissions FROM system_auth.role_permissions"));
  for (const Row& row : permissions) {
    auth::PermissionSet& set = rows.permissions[*row[0]][*row[1]];
    for (const std::string& name : texts_of(row[2]))
      if (const auto permission = auth::permission_by_name(name)) set.add(*permission);
  }
  SIBYL_ASSIGN(const auto identities, read_table("SELECT identity, role FROM system_auth.identity_to_role"));
  for (const Row& row : identities) rows.identities[*row[0]] = row[1].value_or("");
  SIBYL_ASSIGN(const auto groups, read_table("SELECT role, cidr_groups FROM system_auth.cidr_permissions"));
  for (const Row& row : groups) rows.cidr_permissions[*row[0]] = texts_of(row[1]);
  return rows;
}

base::Status Roles::start(const schema::SnapshotPtr& schema) {
  system_schema_ = schema;
  SIBYL_ASSIGN(AccessRows rows, read());
  const bool is_new = rows.roles.empty();
  publish(std::move(rows));
  if (is_new && requires_login()) {
    SIBYL_ASSIGN(std::string hash, auth::hash_password(first_role));
    SIBYL_TRY(change([&](AccessRows& made) -> base::Status {
      made.roles[first_role] = {true, true, std::move(hash), {}};
      return {};
    }));
    spdlog::info("created the superuser '{}', whose password is its name", first_role);
  }
  if (requires_login())
    auth::dummy_hash();  // computed now, otherwise the first login would take twice as long
  if (is_in_cluster_ && !environment_.store.hold({})) return {};
  return change([&](AccessRows& known) -> base::Status {
    revoke_missing(known, *schema);
    return {};
  });
}

base::Status Roles::reload() {
  const base::MutexLock lock(change_mutex_);
  SIBYL_ASSIGN(AccessRows rows, read());
  publish(std::move(rows));
  return {};
}

auth::AccessPtr Roles::access() const {
  const base::MutexLock lock(mutex_);
  return access_;
}

void Roles::publish(AccessRows rows) {
  auto fresh = std::make_shared<const auth::Access>(std::move(rows));
  const base::MutexLock lock(mutex_);
  access_.swap(fresh);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

base::Status Roles::change(const Change& change) {
  return this->change(change, [this](WriteSet writes) -> base::Status {
    if (writes.empty()) return {};
    return environment_.store.commit(std::move(writes));
  });
}

base::Status Roles::change(const Change& change, const Commit& commit) {
  const base::MutexLock lock(change_mutex_);
  auth::AccessPtr before = access();
  if (is_in_cluster_) {
    SIBYL_ASSIGN(AccessRows newest, read());
    before = std::make_shared<const auth::Access>(std::move(newest));
  }
  AccessRows rows = before->rows();
  SIBYL_TRY(change(rows));
  // A role without permissions has no rows.
  for (auto& [role, permissions] : rows.permissions)
    std::erase_if(permissions, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(rows.permissions, [](const auto& entry) { return entry.second.empty(); });
  WriteSet writes = Difference(before->rows(), rows, environment_.timestamps.next()).writes();
  const bool changes_any = !writes.empty();
  SIBYL_TRY(commit(std::move(writes)));
  if (changes_any || is_in_cluster_) publish(std::move(rows));
  return {};
}

namespace {

// Returns the resources that a change created, which belong to its creator.
std::vector<Resource> made_by(const schema::Change& change, const schema::Snapshot& after) {
  using Target = schema::Change::Target;
  const schema::KeyspacePtr keyspace = after.find_keyspace(change.keyspace);
  if (change.kind != schema::Change::Kind::created || !keyspace) return {};
  switch (change.target) {
    case Target::keyspace:
      return {Resource::of_keyspace(change.keyspace), Resource::functions_in(change.keyspace)};
    case Target::table:
      if (!keyspace->tables.contains(change.name)) return {};  // a view
      return {Resource::table(change.keyspace, change.name)};
    case Target::type:
      return {};
    case Target::function:
    case Target::aggregate:
      break;
  }
  std::vector<Resource> made;
  const auto add = [&](const auto& functions) {
    for (const auto& [signature, function] : functions) {
      if (function->name != change.name) continue;
      std::vector<std::string> types;
      for (const types::TypePtr& type : function->argument_types) types.push_back(type->cql_name());
      if (types == change.argument_types)
        made.push_back(Resource::function(change.keyspace, change.name, function->argument_types));
    }
  };
  change.target == Target::function ? add(keyspace->functions) : add(keyspace->aggregates);
  return made;
}

}  // namespace

Roles::Change permission_change_for(const std::vector<schema::Change>& changes, const schema::Snapshot& after,
                                    const auth::Login* creator) {
  return [&changes, &after, creator](AccessRows& rows) -> base::Status {
    // Looks at all changes together, because a keyspace may have thousands of tables.
    const auto is_drop = [](const auto& change) { return change.kind == schema::Change::Kind::dropped; };
    if (std::any_of(changes.begin(), changes.end(), is_drop)) revoke_missing(rows, after);
    for (const schema::Change& change : changes) {
      if (creator == nullptr || !rows.roles.contains(creator->role))
        continue;  // the creator was dropped concurrently
      for (const Resource& resource : made_by(change, after)) {
        auth::PermissionSet& set = rows.permissions[creator->role][auth::name_of(resource)];
        set = set | auth::applicable_permissions(resource.kind);
      }
    }
    return {};
  };
}

base::Result<const auth::Login*> Roles::admit(const auth::Access& access, std::string_view name) {
  const auth::Role* role = access.find(name);
  if (role == nullptr || !role->can_login)
    return base::fail(bad_credentials(fmt::format("{} is not permitted to log in", name)));
  const base::MutexLock lock(mutex_);
  auto& login = logins_[std::string(name)];
  if (!login)
    login =
        std::make_unique<auth::Login>(auth::Login{std::string(name), static_cast<uint32_t>(logins_.size())});
  return login.get();
}

base::Status Roles::may_set_password(const std::string& role, bool is_new) {
  constexpr int64_t interval_millis = 5'000;
  const int64_t now = environment_.clock.now_micros();
  const base::MutexLock lock(mutex_);
  std::erase_if(password_set_micros_,
                [&](const auto& entry) { return now - entry.second >= interval_millis * 1000; });
  if (!password_set_micros_.try_emplace(role, now).second && !is_new)
    return base::fail(
        base::ErrorCode::overloaded,
        fmt::format("Password for role {} can only be changed every {}ms.", role, interval_millis));
  return {};
}

base::Result<const auth::Login*> Roles::log_in(std::string_view name, std::string_view password) {
  const auth::AccessPtr known = access();
  const auth::Role* role = known->find(name);
  const bool has_password = role != nullptr && role->salted_hash;
  const bool is_right =
      auth::check_password(password, has_password ? *role->salted_hash : auth::dummy_hash());
  if (!has_password || !is_right)
    return base::fail(
        bad_credentials(fmt::format("Provided username {} and/or password are incorrect", name)));
  return admit(*known, name);
}

base::Result<const auth::Login*> Roles::log_in_by_identity(std::string_view identity) {
  if (identity.empty())
    return base::fail(
        bad_credentials("Unable to extract client identity from certificate for authentication"));
  const auth::AccessPtr known = access();
  const auto found = known->rows().identities.find(identity);
  if (found == known->rows().identities.end())
    return base::fail(bad_credentials(fmt::format("Certificate identity '{}' not authorized", identity)));
  return admit(*known, found->second);
}

}  // namespace sibyl::engine
