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

// These functions return CREATE statements. Running them on an empty schema creates the same schema.
// `with_internals` adds the table's id and its dropped columns, so that old data files can still be read.
std::string describe_keyspace(const schema::Keyspace& keyspace);
std::string describe_type(const schema::UserType& type);
std::string describe_function(const schema::UserFunction& function);
std::string describe_aggregate(const schema::UserAggregate& aggregate);
// `name(int, text)`, as in the name column of the result.
std::string function_signature(const std::string& name, const std::vector<types::TypePtr>& argument_types);
std::string describe_table(const schema::Table& table, bool is_virtual, bool with_internals);
std::string describe_view(const schema::Table& view, bool with_internals);
std::string describe_index(const schema::Table& table, const schema::Index& index);

// Returns one page. `keyspace` is the session's keyspace, or empty.
base::Result<execute::ResultSet> describe(const cql::Describe& statement, const std::string& keyspace,
                                          const schema::Snapshot& schema, const Node& node,
                                          const execute::Request& request);

}  // namespace sibyl::engine
