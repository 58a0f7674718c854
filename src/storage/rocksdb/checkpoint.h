// A copy of the tables' files while they are in use: table files never change, so they are linked; the few
// others are copied as of one moment.
#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

// Into `directory`, which must not exist, and on the device when it returns. What is only in memory is not in
// it. The paths are those within `directory`.
base::Result<std::vector<CheckpointFile>> make_checkpoint(::rocksdb::DB& database,
                                                          const std::string& directory);

}  // namespace sibyl::storage::rocksdb
