// DESCRIBE: prints the schema as CQL statements, with Cassandra's columns and text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"
#include "engine/system_tables/system_tables.h"
#include "execute/environment.h"
#include "execute/result_set.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Returns one page. `keyspace` is the session's keyspace, or empty.
base::Result<execute::ResultSet> describe(const cql::Describe& statement, const std::string& keyspace,
                                          const schema::Snapshot& schema, const Node& node,
                                          const execute::Request& request);

}  // namespace sibyl::engine
