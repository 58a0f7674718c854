// Classifies write sets by their operations. A nearly full device accepts some purposes and refuses others.
#pragma once

#include "storage/store.h"

namespace sibyl::storage::rocksdb {

enum class Purpose : uint8_t {
  ordinary,
  deletion,    // adds only tombstones
  definition,  // erases ranges (TRUNCATE, DROP), or changes only the catalogue
};

// Decodes fragments, so it is too expensive for every commit.
Purpose purpose_of(const WriteSet& writes);

}  // namespace sibyl::storage::rocksdb
