// Definitions of a source's schema as CQL statements. They do nothing if the object exists (IF NOT EXISTS).
#pragma once

#include <string>

#include "cli/migrate/source_schema.h"

namespace sibyl::cli::migrate {

std::string create_keyspace(const SourceKeyspace& keyspace);
// Like create_keyspace(), with one copy of the data instead of the source's replication.
std::string create_keyspace_with_one_copy(const SourceKeyspace& keyspace);
std::string create_type(const SchemaRow& type);
std::string create_function(const SchemaRow& function);
std::string create_aggregate(const SchemaRow& aggregate);

// Options that only tune a Cassandra's files and caches may be left out, for servers that refuse them.
enum class TableOptions { all, essential };
// REQUIRES: the table is not compact.
std::string create_table(const SourceTable& table, TableOptions options);
std::string create_view(const SourceTable& view, TableOptions options);
std::string create_index(const SourceTable& table, const SchemaRow& index);

// "f(int, text)", for reports.
std::string signature(const SchemaRow& function, const std::string& name_column);

}  // namespace sibyl::cli::migrate
