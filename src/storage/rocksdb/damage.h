// Damaged files: what cannot be read is reported with its file and the records it held, and never served.
//
// Every read that meets damage fails, with the file's name, and is counted. The log says once which tables
// and partitions the file holds: whoever reads may not be allowed to know the keys of others. Thread-safe.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

class DamageReport {
 public:
  // How a record key is called in messages; until it is set keys are shown in hexadecimal.
  using KeyName = std::function<std::string(base::BytesView key)>;
  void set_key_name(KeyName name);

  // The error for a read at `key` that failed. Damage is counted and logged.
  base::Error read_error(::rocksdb::DB& database, const ::rocksdb::Status& status, base::BytesView key);
  // A compaction or flush met damage. The database may be opening or closing, so its files are not looked up.
  void background(const ::rocksdb::Status& status);

  // How often a damaged block was met.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::string name_of(base::BytesView key) const;
  // Where the damage is, when the status tells the file.
  std::string describe(::rocksdb::DB& database, const std::string& file) const;
  void log_once(const std::string& what);

  mutable std::mutex mutex_;
  KeyName key_name_;              // guarded by mutex_
  std::set<std::string> logged_;  // guarded by mutex_; bounded
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace sibyl::storage::rocksdb
