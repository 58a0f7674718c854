// Bytes of records as the engine stores them (docs/storage-format.md), before compression and without what
// was overwritten: from declared types and sizes alone. Pure functions.
#pragma once

#include <vector>

#include "types/type.h"

namespace sibyl::advisor {

struct StoredColumn {
  enum class Role { partition, clustering, fixed /* static */, regular };
  Role role = Role::regular;
  types::TypePtr type;
  double size = 0;      // of a value on average, where its type does not say; 0: unknown
  double elements = 0;  // of a collection; 0: unknown
  double distinct =
      0;  // values; 0: unknown. Small numbers as partition keys have zero bytes, which count twice
};

struct StoredSizes {
  double row = 0;        // a row's record
  double partition = 0;  // the partition's own record: its static columns, when it has any
};

// `expires`: rows have a time to live.
StoredSizes stored_sizes(const std::vector<StoredColumn>& columns, bool expires = false);

// A value of the type as CQL serialises it, `size` where the type leaves it open.
double value_size(const types::Type& type, double size, double elements);

}  // namespace sibyl::advisor
