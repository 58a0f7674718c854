// RocksDB's files, whose errors it may recover from.
//
// RocksDB goes on by itself only after errors that its file system calls retryable; after others it refuses
// all writes until it is opened again. A failed table or manifest file loses nothing here, because the commit
// log has everything until a table file is complete. So every failed write is retryable.
#pragma once

#include <memory>

namespace rocksdb {
class Env;
}

namespace sibyl::storage::rocksdb {

// `base` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_retrying_environment(::rocksdb::Env& base);

}  // namespace sibyl::storage::rocksdb
