// Estimates the sizes of tables for size_estimates, table_estimates and disk_usage.
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

// Estimates the partitions with tokens in [first, last]. Reads the first records of the range. The result is
// exact if the range has no more records, otherwise it is scaled by the range's approximate size.
Estimate estimate(const storage::Store& store, const schema::Table& table, int64_t first, int64_t last);

// Approximate bytes of the table's records, on disk and in memory.
uint64_t table_bytes(const storage::Store& store, const schema::Table& table);

// Rows of the three tables, for all users' tables.
std::vector<SystemRow> size_estimate_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> table_estimate_rows(const storage::Store& store, const schema::Snapshot& schema);
std::vector<SystemRow> disk_usage_rows(const storage::Store& store, const schema::Snapshot& schema);

}  // namespace sibyl::engine
