#include <algorithm>

#include "plan/terms/term.h"
#include "plan/terms/written_types.h"

namespace sibyl::plan {

base::Result<types::TypePtr> Binder::type(const cql::RawType& raw, const std::string& keyspace) {
  schema::Keyspace none;
  none.name = keyspace;
  const schema::KeyspacePtr found = schema_.find_keyspace(keyspace);
  SIBYL_ASSIGN(types::TypePtr type, resolve_type(raw, found ? *found : none));
  add_user_types(*type);
  return type;
}

// Types inside a user type need not be added: when one changes, the user type changes.
void Binder::add_user_types(const types::Type& type) {
  if (type.kind() != types::Kind::udt) {
    for (const types::TypePtr& parameter : type.parameters()) add_user_types(*parameter);
    return;
  }
  const schema::KeyspacePtr keyspace = schema_.find_keyspace(type.keyspace());
  schema::UserTypePtr found = keyspace ? keyspace->find_type(type.name()) : nullptr;
  if (found && std::find(user_types_.begin(), user_types_.end(), found) == user_types_.end())
    user_types_.push_back(std::move(found));
}

}  // namespace sibyl::plan
