// How large tables are: what size_estimates, table_estimates and disk_usage show.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

struct Estimate {
  uint64_t partitions = 0;
  uint64_t mean_partition_bytes = 0;
};

// Of the partitions with tokens in [first, last]. Looks at the first records of the range: exact when that is
// all there is, else scaled by the range's approximate size.
Estimate estimate(const storage::Store& store, const schema::Table& table, int64_t first, int64_t last);

// Of its records, on disk and in memory; approximately.
uint64_t table_bytes(const storage::Store& store, const schema::Table& table);

// The rows of the three tables, for all tables of users.
std::vector<SystemRow> size_estimate_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> table_estimate_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> disk_usage_rows(const storage::Store& store, const schema::Snapshot& schema);

}  // namespace sibyl::engine
