// Keyspaces, types, tables, views and indexes as CREATE statements.
#pragma once

#include <string>

#include "schema/schema.h"

namespace sibyl::engine {

// These functions return CREATE statements. Running them on an empty schema creates the same schema.
// `with_internals` adds the table's id and its dropped columns, so that old data files can still be read.
std::string describe_keyspace(const schema::Keyspace& keyspace);
std::string describe_type(const schema::UserType& type);
std::string describe_table(const schema::Table& table, bool is_virtual, bool with_internals);
std::string describe_view(const schema::Table& view, bool with_internals);
std::string describe_index(const schema::Table& table, const schema::Index& index);

}  // namespace sibyl::engine
