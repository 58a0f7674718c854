// Finds the storage ids of tables and indexes in a schema.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>
#include <vector>

#include "schema/schema.h"

namespace sibyl::schema {

// Returns the ids of all tables and views.
std::unordered_set<uint32_t> table_ids(const Snapshot& schema);
// Returns true if the indexes may differ: some changed table has an index. Cheap if few tables changed.
bool indexes_differ(const Snapshot& before, const Snapshot& after);
// Returns the ids of all indexes that serve ANN queries.
std::set<uint32_t> vector_index_ids(const Snapshot& schema);

// Gives a table, its indexes and its views new storage ids, and thereby empties them. Adds the former ids to
// `dropped`. REQUIRES: the table is in the schema and is not a view.
SnapshotPtr with_new_storage(const Snapshot& schema, const Table& table, std::vector<uint32_t>& dropped);

}  // namespace sibyl::schema
