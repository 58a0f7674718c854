// A file system for RocksDB whose errors RocksDB can recover from.
//
// After a failed table or MANIFEST file, RocksDB only continues if the device was full: it refuses writes
// until Resume() is called. After other errors it refuses writes until it is reopened or, if its file system
// reports them as retryable, it recovers on a thread of its own that can hang on close. Here a failed file
// loses nothing, whatever the reason, because the commit log keeps everything until a table file is complete.
// Therefore every failed write is reported to RocksDB as a full device, together with the real reason.
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

// Observes how RocksDB writes its MANIFEST files. A nonzero errno fails the operation. Thread-safe.
class ManifestObserver {
 public:
  virtual ~ManifestObserver() = default;
  virtual void begun(uint64_t manifest) = 0;
  virtual void appended(uint64_t manifest, base::BytesView bytes) = 0;
  // Called when everything that was appended is on the device. RocksDB learns of it only after this returns.
  virtual int synced(uint64_t manifest) = 0;
  // Calls switching() before CURRENT names this MANIFEST, and switched() afterwards.
  virtual int switching(uint64_t manifest) = 0;
  virtual int switched(uint64_t manifest) = 0;
};

// The environment's clock never shows a time before 1970, which would make RocksDB terminate the process.
// `base` and `manifests` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_recoverable_environment(::rocksdb::Env& base,
                                                             ManifestObserver& manifests);

// The real reason for a status.
struct Reason {
  std::string text;
  bool device_is_full = false;
};
Reason reason_of(const ::rocksdb::Status& status);

}  // namespace sibyl::storage::rocksdb
