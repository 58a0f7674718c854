// Advice after errors that name something unknown: the most similar name that exists, or what to write
// instead.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::plan {

struct NamingContext {
  const schema::Snapshot& schema;
  std::string_view keyspace;         // keyspace of the session; may be empty
  std::string_view datacenter = {};  // the server's own; empty: unknown
};

// Returns the error with a hint if it has none and its message names an unknown keyspace, table, column,
// type, function, index, property, strategy class or data centre. The message stays. Reads the message,
// because the same mistakes are reported in many places, each in Cassandra's words.
base::Error with_naming_hint(const base::Error& error, const cql::Statement& statement,
                             const NamingContext& context);

}  // namespace sibyl::plan
