#include "plan/definitions_types.h"
#include "plan/term.h"

namespace sibyl::plan {

base::Result<types::TypePtr> Binder::type(const cql::RawType& raw, const std::string& keyspace) const {
  if (const schema::KeyspacePtr found = schema_.find_keyspace(keyspace)) return resolve_type(raw, *found);
  schema::Keyspace none;
  none.name = keyspace;
  return resolve_type(raw, none);
}

}  // namespace sibyl::plan
