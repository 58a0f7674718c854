// Estimates the bytes of records as the engine stores them (docs/storage-format.md), before compression and
// without overwritten data. Uses declared types and sizes only. Pure functions.
#pragma once

#include <vector>

#include "types/type.h"

namespace sibyl::advisor {

struct StoredColumn {
  enum class Role { partition, clustering, fixed /* static */, regular };
  Role role = Role::regular;
  types::TypePtr type;
  double size = 0;      // mean size of a value if the type does not determine it; 0: unknown
  double elements = 0;  // mean number of elements of a collection; 0: unknown
  // Number of distinct values; 0: unknown. Used for partition keys: the zero bytes of small numbers are
  // escaped and count twice.
  double distinct = 0;
};

struct StoredSizes {
  double row = 0;        // bytes of a row's record
  double partition = 0;  // bytes of the partition's record, which holds static columns; 0 if it has none
};

// `expires`: rows have a time to live.
StoredSizes stored_sizes(const std::vector<StoredColumn>& columns, bool expires = false);

// The serialised size of a value. `size` is used for types of variable size.
double value_size(const types::Type& type, double size, double elements);

}  // namespace sibyl::advisor
