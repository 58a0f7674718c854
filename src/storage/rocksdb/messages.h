// Writes RocksDB's warnings and errors to the server's log.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace sibyl::storage::rocksdb {

// Replaces RocksDB's own log file. On a full disk that file would terminate the process: after a failed
// write, RocksDB's writer treats the next line as a bug.
std::shared_ptr<::rocksdb::Logger> make_messages();

}  // namespace sibyl::storage::rocksdb
