// Which tables and indexes there are, by the ids that records know them by.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>

#include "schema/schema.h"

namespace sibyl::schema {

// Of all tables and views.
std::unordered_set<uint32_t> table_ids(const Snapshot& schema);
// Whether indexes may differ: some table that does has any. Cheap when few tables differ.
bool indexes_differ(const Snapshot& before, const Snapshot& after);
// Of all indexes that answer ANN queries.
std::set<uint32_t> vector_index_ids(const Snapshot& schema);

}  // namespace sibyl::schema
