// Copies the store's files while they are in use. Table files never change, so they are linked. The few other
// files are copied as of one moment.
#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

// Creates `directory`, which must not exist. The copy is on the device when this returns. Data that is only
// in memory is not included. The returned paths are relative to `directory`.
base::Result<std::vector<CheckpointFile>> make_checkpoint(::rocksdb::DB& database,
                                                          const std::string& directory);

}  // namespace sibyl::storage::rocksdb
