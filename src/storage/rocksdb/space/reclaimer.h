// Gives back the space of tables that TRUNCATE or DROP erased.
//
// Readers do not see an erased table from its commit on; its records are still in files. Once the erasure is
// on the device and no reader is left that began before it,
//
//  1. files that hold nothing but erased records are removed whole;
//  2. the memory tables are flushed, which leaves out erased records, and the log gives back its segments;
//  3. files that hold other records as well are rewritten without the erased ones, each where it is.
//
// Only the third step needs room on the device: for the other records of one file at a time. A step that
// fails is tried again. After a crash the log tells of erasures that are not in files yet. The others are
// found at the start: ids of dropped tables by the purge policy, erasures of tables that still exist by the
// properties of files.
//
// A file is touched only when it was written before the erasure: later ones may hold records that were
// written since. Its number tells. Of an erasure that was found in a file of level 0, the files below level 0
// are older, and those of level 0 whose sequence numbers are lower: RocksDB moves newer records of a range
// down only with the older ones.
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
    // Waits until the device has every acknowledged commit.
    std::function<base::Status()> sync;
    // Writes memory tables to files and gives back the log's space.
    std::function<base::Status()> flush;
  };

  Reclaimer(BackgroundListener& background, PurgeContext& purge) : background_(background), purge_(purge) {}

  // A batch that erases ranges has been added to the tables. `last_file`: the highest number of a table file
  // before that. Any thread.
  void add(const ::rocksdb::WriteBatch& batch, uint64_t last_file);

  // Whether run() has something to do now.
  bool is_due(std::chrono::steady_clock::time_point now) const;
  // Frees what can be freed. `min_bytes`: what is not worth it. Takes as long as a compaction; one thread at
  // a time.
  void run(::rocksdb::DB& database, const Work& work, uint64_t min_bytes);

 private:
  // What was written before an erasure: files up to this number, and these.
  struct Older {
    uint64_t last_file = 0;
    std::set<uint64_t> files;
    bool operator==(const Older&) const = default;
  };
  // Of tables [first, last].
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
  std::map<uint32_t, Older> pending_;  // by table id; guarded by mutex_, as all below
  bool must_search_ = true;  // the store has been opened, and files not been searched for erased tables
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace sibyl::storage::rocksdb
