// Frees the space of tables that TRUNCATE or DROP erased.
//
// Readers do not see an erased table after the commit, but its records are still in files. Once the erasure
// is on the device and no reader remains that began before it:
//
//  1. Files that hold only erased records are deleted.
//  2. Memory tables are flushed without the erased records, and the log releases its segments.
//  3. Files that also hold other records are rewritten in place without the erased ones.
//
// Only the third step needs space on the device: enough for the other records of one file at a time. A failed
// step is retried. After a crash, erasures that are not in files yet are in the log. The others are found at
// startup: ids of dropped tables by the purge policy, erasures of existing tables by the properties of files.
//
// A file is changed only if it was written before the erasure, because later files may hold newer records.
// File numbers show the order. For an erasure found in a file of level 0, the files below level 0 are older,
// and so are files of level 0 with lower sequence numbers: RocksDB moves newer records of a range down only
// together with the older ones.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/rocksdb/background_listener.h"
#include "storage/rocksdb/merging.h"

namespace sibyl::storage::rocksdb {

class Reclaimer {
 public:
  struct Work {
    // Waits until every acknowledged commit is on the device.
    std::function<base::Status()> sync;
    // Flushes memory tables and releases the log's space.
    std::function<base::Status()> flush;
  };

  Reclaimer(BackgroundListener& background, PurgeContext& purge) : background_(background), purge_(purge) {}

  // Called after a batch that erases ranges was added to the tables. `last_file` is the highest number of a
  // table file before that. Thread-safe.
  void add(const ::rocksdb::WriteBatch& batch, uint64_t last_file);

  // Searches all files for records of dropped tables, as after opening. Call it when the policy has dropped
  // tables whose records were not erased. Thread-safe.
  void search_again();

  // Returns true if run() has work to do now.
  bool is_due(std::chrono::steady_clock::time_point now) const;
  // Frees what can be freed, except tables with fewer than `min_bytes` to free. Takes as long as a
  // compaction. Must be called by one thread at a time.
  void run(::rocksdb::DB& database, const Work& work, uint64_t min_bytes);

 private:
  // Identifies the data that was written before an erasure: files up to this number, and the files that are
  // listed.
  struct Older {
    uint64_t last_file = 0;
    std::set<uint64_t> files;
    bool operator==(const Older&) const = default;
  };
  // An erasure of the tables `first` to `last`, inclusive.
  struct Erasure {
    uint32_t first = 0, last = 0;
    Older older;
  };
  using Files = std::vector<::rocksdb::LiveFileMetaData>;

  std::vector<Erasure> take_pending(::rocksdb::DB& database);
  void search(::rocksdb::DB& database, std::vector<Erasure>& erasures) const;
  void put_back(const std::vector<Erasure>& erasures, std::chrono::milliseconds pause);
  static uint64_t bytes_of(::rocksdb::DB& database, const Erasure& erasure, bool in_memory);
  void remove_whole_files(::rocksdb::DB& database, const std::vector<Erasure>& erasures);
  bool rewrite_files(::rocksdb::DB& database, const std::vector<Erasure>& erasures);
  bool is_older(const ::rocksdb::LiveFileMetaData& file, const Erasure& erasure) const;

  BackgroundListener& background_;
  PurgeContext& purge_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Older> pending_;  // erasures by table id; guarded by mutex_, like all members below
  // true: since the store was opened, or since search_again(), files were not searched for erased tables.
  bool must_search_ = true;
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace sibyl::storage::rocksdb
