// Types as definitions work with them: from text to types, and what happens to types when a user type
// changes.
#pragma once

#include <string>

#include "base/result.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::plan {

// A written type inside a statement on `keyspace`, whose user types it may name. Refuses, with Cassandra's
// texts, what no column or field may have: unfrozen collections inside collections, counters inside anything,
// durations as keys...
base::Result<types::TypePtr> resolve_type(const cql::RawType& raw, const schema::Keyspace& keyspace);

// Whether it is written as Cassandra's class of reversed types: a clustering column of it is in descending
// order.
bool is_reversed(const cql::RawType& raw);

// As Cassandra spells a written type in messages. With a keyspace, user types are qualified by it.
std::string spell(const cql::RawType& raw, const std::string& keyspace = {});

// The type with every occurrence of a user type replaced by its new definition. The same pointer when there
// is none.
types::TypePtr replace_user_type(const types::TypePtr& type, const schema::UserType& replacement);

// The type with user types as tuples of their fields: what is kept of a dropped column, whose types may be
// gone later.
types::TypePtr expand_user_types(const types::TypePtr& type);

// Whether a dropped column of type `old_type` may come back as `new_type`.
bool may_replace_dropped(const types::Type& new_type, const types::Type& old_type);

}  // namespace sibyl::plan
