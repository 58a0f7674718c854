// Converts column values to the keys of a table's records, and back.
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

// Serialises a partition key after checking its components (present, not empty if there is only one, within
// max_key_size). Errors have Cassandra's texts.
base::Result<Bytes> partition_key_of(const schema::Table& table,
                                     std::span<const types::ValueView> components);

// The clustering bytes of the first `values.size()` clustering columns.
Bytes clustering_of(const schema::Table& table, std::span<const BytesView> values);
// The original bytes of the values with their lengths, stored in the row if the key is lossy; otherwise
// empty.
Bytes original_clustering_of(const schema::Table& table, std::span<const BytesView> values,
                             BytesView clustering);
// Decodes the values of a record, using the original bytes if they were stored.
base::Result<std::vector<Bytes>> clustering_values(const schema::Table& table, BytesView clustering,
                                                   BytesView original);

}  // namespace sibyl::plan
