// Keys of a table's records from column values, and back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "types/value.h"

namespace sibyl::plan {

using types::Bytes;
using types::BytesView;

inline constexpr size_t max_key_size = 65'535;

// Checks one component of the partition key (present, not empty for a sole component, within max_key_size)
// with Cassandra's texts, and serialises them all.
base::Result<Bytes> partition_key_of(const schema::Table& table,
                                     std::span<const types::ValueView> components);

// The clustering bytes of the first `values.size()` clustering columns.
Bytes clustering_of(const schema::Table& table, std::span<const BytesView> values);
// The values' own bytes, one after another with lengths: kept in the row when the key loses them; else empty.
Bytes original_clustering_of(const schema::Table& table, std::span<const BytesView> values,
                             BytesView clustering);
// Back to values: from the record, preferring the original where it was kept.
base::Result<std::vector<Bytes>> clustering_values(const schema::Table& table, BytesView clustering,
                                                   BytesView original);

}  // namespace sibyl::plan
