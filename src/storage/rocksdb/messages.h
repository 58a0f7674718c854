// RocksDB's warnings and errors, in our log.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace sibyl::storage::rocksdb {

// Instead of a log file of RocksDB's own, which a full disk would turn into the end of the process: its
// writer takes a second line after one that failed for a bug.
std::shared_ptr<::rocksdb::Logger> make_messages();

}  // namespace sibyl::storage::rocksdb
