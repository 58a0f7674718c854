// What a write set is for, as far as its operations tell. A device that is nearly full takes some when it
// refuses others.
#pragma once

#include "storage/store.h"

namespace sibyl::storage::rocksdb {

enum class Purpose : uint8_t {
  ordinary,
  deletion,    // adds nothing but tombstones
  definition,  // erases ranges (TRUNCATE, DROP), or changes the catalogue and no user's table
};

// Decodes fragments, so it is not for every commit.
Purpose purpose_of(const WriteSet& writes);

}  // namespace sibyl::storage::rocksdb
