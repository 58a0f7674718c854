// Reads how long the log of a server is, without opening or sealing it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::rocksdb {

struct LogSummary {
  uint64_t first_segment = 0, last_segment = 0;  // 0: there is no log, or nothing is in it
  uint64_t bytes = 0;                            // of these segments
  uint64_t sequence = 0;                         // of the last record
};

// Blocks. The writer may append and release segments meanwhile, so the numbers may be of different moments.
base::Result<LogSummary> summarise_log(objects::ObjectStore& store, const std::string& name);

}  // namespace sibyl::storage::rocksdb
