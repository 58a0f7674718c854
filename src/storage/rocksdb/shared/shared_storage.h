// The place of a store that is not in a local directory.
#pragma once

#include <memory>

#include "storage/rocksdb/write_log.h"

namespace rocksdb {
class FileSystem;
}

namespace sibyl::storage::rocksdb {

// The only path of the files.
inline constexpr const char* object_path = "/objects";

// Derive from it to own what the functions use. Destroyed after the store's tables and log.
struct SharedStorage {
  virtual ~SharedStorage() = default;
  std::shared_ptr<::rocksdb::FileSystem> files;
  // Called once by each open, after the tables are open.
  OpenLog open_log;
};

}  // namespace sibyl::storage::rocksdb
