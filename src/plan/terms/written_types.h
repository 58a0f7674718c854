// Resolves written types in definitions, and updates types when a user type changes.
#pragma once

#include <string>

#include "base/result.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::plan {

// Resolves a type that a statement names. User types are looked up in `keyspace`. Fails with Cassandra's
// errors for types that no column or field may have: unfrozen collections inside collections, counters inside
// anything, durations as keys...
base::Result<types::TypePtr> resolve_type(const cql::RawType& raw, const schema::Keyspace& keyspace);

// True if it is written as Cassandra's ReversedType class: a clustering column of it is in descending order.
bool is_reversed(const cql::RawType& raw);

// A written type as spelled in Cassandra's messages. With a keyspace, user types are qualified by it.
std::string spell(const cql::RawType& raw, const std::string& keyspace = {});

// Replaces every occurrence of a user type by its new definition. Returns the same pointer if there is none.
types::TypePtr replace_user_type(const types::TypePtr& type, const schema::UserType& replacement);

// Replaces user types by tuples of their fields. Stored for a dropped column, because its types may be
// dropped later.
types::TypePtr expand_user_types(const types::TypePtr& type);

// True if a dropped column of type `old_type` may be added again as `new_type`.
bool may_replace_dropped(const types::Type& new_type, const types::Type& old_type);

// Refuses types that nest too deeply or contain too many values. `name` is used in the message.
base::Status check_type_size(const types::Type& type, const std::string& name);

}  // namespace sibyl::plan
