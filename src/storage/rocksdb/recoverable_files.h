// RocksDB's files, with errors that it can recover from.
//
// RocksDB goes on after a failed table or manifest file only when the device was full: then it refuses writes
// until it is told to resume. After other errors it refuses them until it is opened again, or, when its file
// system calls them retryable, recovers on a thread of its own that can hang on closing. Here a failed file
// loses nothing, whatever the reason, because the commit log has everything until a table file is complete.
// So every failed write is given to RocksDB as a full device; the true reason goes along.
#pragma once

#include <memory>
#include <string>

namespace rocksdb {
class Env;
class Status;
}  // namespace rocksdb

namespace sibyl::storage::rocksdb {

// `base` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_recoverable_environment(::rocksdb::Env& base);

// What a status says in truth.
struct Reason {
  std::string text;
  bool device_is_full = false;
};
Reason reason_of(const ::rocksdb::Status& status);

}  // namespace sibyl::storage::rocksdb
