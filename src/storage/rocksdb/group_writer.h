// Writes groups of write sets: to the commit log first, then to RocksDB's tables.
//
// A failed write leaves nothing behind, neither in the log nor in the tables. After a device failure, writing
// resumes by itself as soon as the device works again. The log keeps a segment until its contents are in
// table files.
//
// Stores that share a log write their groups together: their owner calls begin_group(), add(),
// prepare_group() for each of them, appends all groups to the log at once, and then calls finish_group().
//
// Must be used by one thread at a time, the committer's. Members that only return statistics are thread-safe.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "storage/rocksdb/background_listener.h"
#include "storage/rocksdb/cache/partition_record_tables.h"
#include "storage/rocksdb/cache/row_cache.h"
#include "storage/rocksdb/committer.h"
#include "storage/rocksdb/damage.h"
#include "storage/rocksdb/partition_samples.h"
#include "storage/rocksdb/space/reclaimer.h"
#include "storage/rocksdb/write_log.h"

namespace sibyl::storage::rocksdb {

// Counts merges by a hash of their key, to find records that accumulate fragments faster than flushes merge
// them. Records that share a slot compete: the one with the majority of merges is counted. Many records that
// are written occasionally are never mistaken for one hot record, which matters because each reported record
// is read.
//
// Merging rewrites the whole record. Large records are merged less often, in proportion to their size, so
// that the cost per fragment does not grow with the record. Otherwise n additions to one collection would
// cost n * n.
class HotKeys {
 public:
  // Counts one merge. Returns true if the record has accumulated enough fragments to merge them now.
  bool count(BytesView key) {
    const size_t hash = std::hash<BytesView>{}(key);
    Place& place = places_[hash % places_.size()];
    const auto name = static_cast<uint8_t>(hash / places_.size());
    if (place.name != name && place.count > 0) {
      --place.count;
      return false;
    }
    place.name = name;
    if (++place.count < limit) return false;
    place.count = 0;
    return large_.empty() || is_due(hash);
  }

  // Records that the fragments of `key` were merged into a record of `bytes`.
  void record_merge(BytesView key, size_t bytes);

 private:
  static constexpr uint8_t limit = 64;
  // A merge rewrites at most this many bytes for each fragment.
  static constexpr size_t max_rewritten_per_fragment = 64;
  static constexpr size_t max_large = 4096;  // records
  struct Place {
    uint8_t name = 0, count = 0;
  };
  bool is_due(size_t hash);

  std::array<Place, 1 << 16> places_{};
  // For the hash of a key, how many more times `limit` fragments must arrive before the next merge.
  std::unordered_map<size_t, size_t> large_;
};

class GroupWriter {
 public:
  // Borrows all of these; they must outlive the writer.
  struct Tables {
    ::rocksdb::DB& database;
    BackgroundListener& background;
    DamageReport& damage;
    Reclaimer& reclaimer;  // notified about erased tables
    PartitionRecordTables& partition_records;
    RowCache* row_cache;  // nullptr: none
  };
  // Opens the log and replays what is not yet in the tables. With `syncs_each`, a group is on the device when
  // write() returns; otherwise after sync().
  static base::Result<std::unique_ptr<GroupWriter>> open(const OpenLog& log, Tables tables, bool syncs_each);

  // Called once before the first write. REQUIRES: everything that was replayed is in table files.
  base::Status begin_log() { return log_->begin(); }
  // Writes the whole group, or nothing.
  base::Status write(std::span<Committer::Request> group);

  // --- The steps of write(), for stores that share a log. This one starts an empty group. Returns an error
  // if writes are refused.
  base::Status begin_group();
  void add(const WriteSet::Operation& operation);
  // Completes the group with its position in the log. Returns the group, or nothing if it is empty. Valid
  // until finish_group().
  BytesView prepare_group();
  // Adds the group to the tables if it was logged.
  base::Status finish_group(const base::Status& logged);

  // Waits until everything is on the device.
  base::Status sync();
  // Records how much of the log is on the device, to distinguish damage from an incomplete write. With
  // `syncs_each`, write() does this before it returns.
  void note_synced() { log_->note_synced(); }
  // Starts an empty log. REQUIRES: all groups are in table files.
  void release_log() { (void)log_->release_all(); }
  // Frees log space that table files have made unnecessary.
  void trim_log();

  // Runs `task` on the writing thread before its next group. Thread-safe.
  void post(std::function<void()> task);

  // Tables that were erased in memory only, so that their records in files do not count. Thread-safe.
  std::set<uint32_t> erased_in_memory() { return erased_tables_.only_in_memory(background_.flushed()); }
  // True once RocksDB threw in the middle of a write and would deadlock on the next one. From then on nothing
  // is written, and the database must not be flushed or closed. Thread-safe.
  bool is_broken() const { return is_broken_.load(std::memory_order_relaxed); }
  uint64_t log_bytes() const { return log_->bytes(); }
  // Time to write and sync the log, per group.
  base::HistogramSnapshot sync_micros() const { return sync_micros_.snapshot(); }
  // Recent average of sync_micros(); zero if groups are not synced. Thread-safe.
  std::chrono::microseconds sync_time() const { return sync_time_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t max_kept_batch = 8 << 20;  // the memory of a larger batch is freed

  GroupWriter(Tables tables, bool syncs_each)
      : database_(tables.database),
        background_(tables.background),
        damage_(tables.damage),
        reclaimer_(tables.reclaimer),
        partition_records_(tables.partition_records),
        row_cache_(tables.row_cache),
        syncs_each_(syncs_each) {}
  base::Status replay(const OpenLog& open_log);
  base::Status gather(std::span<Committer::Request> group);
  base::Status append();
  base::Status refuse_from_now_on(const base::Status& status);
  void record_sync(std::chrono::microseconds taken);
  // Applies the batch to the tables and to the row cache.
  base::Status apply_group();
  base::Status apply(::rocksdb::WriteBatch& batch);
  void resume_after_failure();
  void abandon_log();
  void log_state_change(const base::Status& status);
  void merge_hot_keys();
  void release_segments();
  void run_posted();

  ::rocksdb::DB& database_;
  BackgroundListener& background_;
  DamageReport& damage_;
  Reclaimer& reclaimer_;
  PartitionRecordTables& partition_records_;
  RowCache* const row_cache_;
  const bool syncs_each_;
  ErasedTables erased_tables_;
  std::unique_ptr<WriteLog> log_;
  // Segments of the log, each with the last sequence number in it.
  std::deque<std::pair<uint64_t, uint64_t>> segments_;
  ::rocksdb::WriteBatch batch_;
  HotKeys hot_keys_;
  std::vector<Bytes> hot_;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by posted_mutex_
  std::atomic<bool> has_posted_ = false;
  std::chrono::steady_clock::time_point next_resume_;
  std::atomic<bool> is_broken_{false};
  std::optional<base::Error> ended_;  // set when writes are refused for ever; the tables are not affected
  bool is_refusing_ = false;          // the last message in the log file said that writes are refused
  base::Histogram sync_micros_;
  std::atomic<std::chrono::microseconds> sync_time_{};
};

}  // namespace sibyl::storage::rocksdb
