// Damaged files: unreadable data is reported with its file and never served.
//
// Every read that encounters damage fails with the name of the file, and is counted. The tables and
// partitions that the file holds are written to the log, once. They are not in the error because the client
// may not have permission to see other keys. Thread-safe.
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
  // Formats a record key for messages. Until it is set, keys are shown in hexadecimal.
  using KeyName = std::function<std::string(base::BytesView key)>;
  void set_key_formatter(KeyName name);

  // Returns the error for a failed read at `key`. Counts and logs damage.
  base::Error read_error(::rocksdb::DB& database, const ::rocksdb::Status& status, base::BytesView key);
  // Reports damage found by a compaction or flush. Does not look up the file, because the database may be
  // opening or closing.
  void background(const ::rocksdb::Status& status);

  // How many times a read encountered a damaged block.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::string name_of(base::BytesView key) const;
  // Describes the records that the damaged file holds.
  std::string describe(::rocksdb::DB& database, const std::string& file) const;
  void log_once(const std::string& what);

  mutable std::mutex mutex_;
  KeyName key_name_;              // guarded by mutex_
  std::set<std::string> logged_;  // guarded by mutex_; bounded
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace sibyl::storage::rocksdb
