// Which tables and indexes there are, by the ids that records know them by.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>

#include "schema/schema.h"

namespace sibyl::schema {

// Of all tables and views.
std::unordered_set<uint32_t> table_ids(const Snapshot& schema);
// Of all indexes that answer ANN queries.
std::set<uint32_t> vector_index_ids(const Snapshot& schema);

}  // namespace sibyl::schema
