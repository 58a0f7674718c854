// RocksDB's files, with errors that it can recover from.
//
// RocksDB goes on after a failed table or manifest file only when the device was full: then it refuses writes
// until it is told to resume. After other errors it refuses them until it is opened again, or, when its file
// system calls them retryable, recovers on a thread of its own that can hang on closing. Here a failed file
// loses nothing, whatever the reason, because the commit log has everything until a table file is complete.
// So every failed write is given to RocksDB as a full device; the true reason goes along.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace rocksdb {
class Env;
class Status;
}  // namespace rocksdb

namespace sibyl::storage::rocksdb {

// Follows how RocksDB writes its MANIFEST files. An errno other than 0 fails the operation. Thread-safe.
class ManifestObserver {
 public:
  virtual ~ManifestObserver() = default;
  virtual void begun(uint64_t manifest) = 0;
  virtual void appended(uint64_t manifest, base::BytesView bytes) = 0;
  // All that was appended is on the device; RocksDB does not know it yet.
  virtual int synced(uint64_t manifest) = 0;
  // CURRENT is about to name this MANIFEST, and names it.
  virtual int switching(uint64_t manifest) = 0;
  virtual int switched(uint64_t manifest) = 0;
};

// Its clock shows no time before 1970, which RocksDB ends the process for. `base` and `manifests` must
// outlive the result.
std::unique_ptr<::rocksdb::Env> make_recoverable_environment(::rocksdb::Env& base,
                                                             ManifestObserver& manifests);

// What a status says in truth.
struct Reason {
  std::string text;
  bool device_is_full = false;
};
Reason reason_of(const ::rocksdb::Status& status);

}  // namespace sibyl::storage::rocksdb
