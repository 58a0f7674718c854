#include "plan/definitions/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;

namespace {

// Cassandra's replicated system keyspaces: users may alter them, but may not drop them or create tables in
// them.
constexpr std::array<std::string_view, 3> replicated_system_keyspaces = {"system_auth", "system_distributed",
                                                                         "system_traces"};
constexpr std::array<std::string_view, 4> local_system_keyspaces = {"system", "system_schema", "system_views",
                                                                    "system_virtual_schema"};

template <size_t size>
bool contains(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

base::Status check_keyspace_name(const std::string& name) {
  if (!is_plain_name(name)) {
    return base::invalid(
        fmt::format("Keyspace name must not be empty and must contain alphanumeric or underscore characters "
                    "only (got \"{}\")",
                    name));
  }
  if (name.size() > max_name_length) {
    return base::invalid(
        fmt::format("Keyspace name must not be more than {} characters long (got {} characters for \"{}\")",
                    max_name_length, name.size(), name));
  }
  return {};
}

}  // namespace

base::Result<std::string> Draft::keyspace_name(const cql::QualifiedName& name) const {
  if (!name.keyspace.empty()) return name.keyspace;
  if (!context_.keyspace.empty()) return context_.keyspace;
  return base::invalid(
      "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename");
}

base::Status Draft::check_may_change(const std::string& keyspace, const char* action,
                                     const std::string& resource) const {
  const std::string folded = base::ascii_lower(keyspace);
  const bool replicated = contains(replicated_system_keyspaces, keyspace);
  schema::KeyspacePtr found = before_->find_keyspace(keyspace);
  const bool local = contains(local_system_keyspaces, folded) || (found && found->is_system && !replicated);
  const bool is_keyspace = resource.starts_with("<keyspace ");
  if (local) {
    if (is_keyspace && std::string_view(action) == "CREATE")
      return base::invalid(fmt::format("System keyspace '{}' is not user-modifiable", keyspace));
    return base::fail(ErrorCode::unauthorized, fmt::format("{} keyspace is not user-modifiable.", keyspace));
  }
  if (replicated && found) {
    const std::string_view verb = action;
    const bool may = is_keyspace && verb != "DROP";
    if (!may) return base::fail(ErrorCode::unauthorized, fmt::format("Cannot {} {}", action, resource));
  }
  return check_keyspace_name(keyspace);
}

std::shared_ptr<schema::Snapshot> Draft::next() const {
  auto next = std::make_shared<schema::Snapshot>(*before_);
  next->version = types::random_uuid();
  next->next_storage_id = before_->next_storage_id + used_storage_ids_;
  return next;
}

DefinitionResult Draft::finish(std::shared_ptr<schema::Snapshot> next, Change change) {
  DefinitionResult result;
  result.schema = std::move(next);
  result.changes.push_back(std::move(change));
  for (Change& further : further_changes) result.changes.push_back(std::move(further));
  result.dropped_storage_ids = std::move(dropped_storage_ids);
  result.warnings = std::move(warnings);
  return result;
}

void Draft::warn_about_options(const schema::TableOptions& options, const schema::TableOptions* before) {
  if (options.cdc && !(before && before->cdc))
    warnings.emplace_back(
        "cdc has no effect: Sibyl writes no change log. The option is stored, and DESCRIBE shows it.");
}

DefinitionResult Draft::with(std::shared_ptr<schema::Keyspace> keyspace, Change change) {
  auto snapshot = next();
  const std::string name = keyspace->name;
  snapshot->keyspaces.insert_or_assign(name, std::move(keyspace));
  return finish(std::move(snapshot), std::move(change));
}

DefinitionResult Draft::without(const std::string& keyspace, Change change) {
  auto snapshot = next();
  snapshot->keyspaces.erase(keyspace);
  return finish(std::move(snapshot), std::move(change));
}

}  // namespace sibyl::plan
