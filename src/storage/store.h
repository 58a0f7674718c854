// The store contract: a sorted map of mergeable rows.
//
// Every store promises, independently of its engine:
//
//  1. Order. Keys are compared as unsigned bytes. Iterators visit them in that order, or backwards.
//  2. Merging. merge(key, fragment) adds a fragment to a record. Readers see row::merge of all fragments
//     added since the last put or erase that covers the key. A plain write never reads first.
//  3. Atomicity. A WriteSet takes effect wholly or not at all, across tables and across crashes. No reader
//     sees a part of one. Its operations apply in the order in which they were added.
//  4. Durability. When commit() reports success, the write set survives a crash of the process and, with
//     Durability::synced, of the machine. Write sets become visible no later than success is reported, in one
//     order that is the same for all readers.
//  5. Failure. After commit() reports an error, nothing of the write set is visible, now or later. The store
//     continues to serve reads, and accepts commits again as soon as its device works.
//  6. Snapshots and iterators see the store as of their creation. They stay valid after later commits, but
//     must not outlive the store. An iterator's key() and value() are invalidated when it moves.
//  7. Threads. Store and Snapshot are thread-safe. An Iterator must be used by one thread at a time.
//     Callbacks run on a thread of the store and must not block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/histogram.h"
#include "base/persistent_map.h"
#include "base/result.h"

namespace sibyl::storage {

using base::Bytes;
using base::BytesView;

class WriteSet {
 public:
  enum class Action : uint8_t { merge, put, erase, erase_range };
  struct Operation {
    Action action;
    Bytes key;
    Bytes value;  // erase_range: the end of the range, exclusive
  };

  void merge(Bytes key, Bytes fragment) { add(Action::merge, std::move(key), std::move(fragment)); }
  // Stores a record that is not a row, such as one of the catalogue.
  void put(Bytes key, Bytes value) { add(Action::put, std::move(key), std::move(value)); }
  void erase(Bytes key) { add(Action::erase, std::move(key), {}); }
  // Erases everything in [begin, end), at a cost that does not depend on the amount of data.
  void erase_range(Bytes begin, Bytes end) { add(Action::erase_range, std::move(begin), std::move(end)); }

  void append(WriteSet&& other);
  bool empty() const { return operations_.empty(); }
  size_t byte_size() const { return byte_size_; }
  const std::vector<Operation>& operations() const { return operations_; }
  std::vector<Operation> take() && { return std::move(operations_); }

 private:
  void add(Action action, Bytes key, Bytes value) {
    byte_size_ += key.size() + value.size();
    operations_.push_back({action, std::move(key), std::move(value)});
  }
  std::vector<Operation> operations_;
  size_t byte_size_ = 0;
};

// Iterates over the records in [begin, end). Invalid until the first seek. After an error valid() is false
// and status() returns the error. A caller that reaches the end must check status() once.
class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual bool valid() const = 0;
  virtual void seek(BytesView key) = 0;           // moves to the first record at or after key
  virtual void seek_for_prev(BytesView key) = 0;  // moves to the last record at or before key
  virtual void seek_to_first() = 0;
  virtual void seek_to_last() = 0;
  virtual void next() = 0;  // REQUIRES: valid()
  virtual void prev() = 0;  // REQUIRES: valid()
  virtual BytesView key() const = 0;
  virtual BytesView value() const = 0;
  virtual base::Status status() const = 0;
};

class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Returns true if the record exists.
  virtual base::Result<bool> get(BytesView key, Bytes& value) const = 0;
  virtual std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const = 0;
};

// The time for which tombstones must be kept, by table id.
//
// Unknown ids from first_table_id on and below next_table_id belong to dropped tables: all of their records
// may be removed. Therefore a policy that includes a new table must be set before the first write to the
// table, unless next_table_id shows that the policy is older than the table. Records of the catalogue, and of
// unknown ids below first_table_id, are never purged. Nothing is purged until a policy is set.
struct PurgePolicy {
  static constexpr uint32_t first_table_id = 1024;
  struct Table {
    int64_t gc_grace_seconds = 864'000;
    // The rows are written whole and expire with their markers, whatever cells they hold. True for views.
    bool rows_end_with_marker = false;
  };
  base::PersistentMap<uint32_t, Table> tables;  // by id
  // Ids from here on had not been assigned when the policy was made. Their records are kept.
  uint32_t next_table_id = std::numeric_limits<uint32_t>::max();

  bool is_dropped(uint32_t id) const {
    return id >= first_table_id && id < next_table_id && !tables.contains(id);
  }
};

// Statistics since the store was opened. Fields that do not apply to an engine stay zero.
struct StoreStatistics {
  uint64_t bytes_on_disk = 0;
  uint64_t bytes_in_memory = 0;
  uint64_t commit_groups = 0;  // groups that were synced; `commits` counts the write sets in them
  uint64_t commits = 0;
  uint64_t damage_met = 0;                // number of reads and compactions that encountered a damaged block
  uint64_t commits_refused = 0;           // as overloaded
  base::HistogramSnapshot group_commits;  // write sets per group
  base::HistogramSnapshot sync_micros;    // time to write a group to the log and sync it
  uint64_t log_bytes = 0;
  uint64_t memtable_bytes = 0;
  uint64_t files = 0;
  uint64_t cache_capacity_bytes = 0, cache_bytes = 0, cache_hits = 0, cache_misses = 0;
  // Merged records for point reads.
  uint64_t row_cache_capacity_bytes = 0, row_cache_bytes = 0, row_cache_entries = 0;
  uint64_t row_cache_hits = 0, row_cache_misses = 0, row_cache_evictions = 0;
  uint64_t flushes = 0, flush_bytes = 0;
  uint64_t compactions = 0, compaction_bytes_read = 0, compaction_bytes_written = 0;
  uint64_t running_flushes = 0, running_compactions = 0;
  uint64_t pending_compaction_bytes = 0;
  uint64_t background_errors = 0;
};

// A data file. Records in it have keys from the first to the last one given here.
struct StoreFile {
  std::string name;
  Bytes first_key, last_key;
  uint64_t bytes = 0;
};
// A compaction: files that are being rewritten.
struct StoreTask {
  uint64_t id = 0;
  int64_t started_micros = 0;  // since the epoch
  std::vector<StoreFile> inputs;
};

// A file of a checkpoint: its path within the checkpoint, and the CRC-32C of its bytes.
struct CheckpointFile {
  std::string path;
  uint64_t size = 0;
  uint32_t crc32c = 0;
};

// Index entries are stored in runs. The entries of the partitions with tokens from `first` to `last` have
// `token` in their keys.
struct EntryRun {
  int64_t token = 0;
  int64_t first = std::numeric_limits<int64_t>::min();
  int64_t last = std::numeric_limits<int64_t>::max();
};

// The timestamps that a server assigns to writes. Thread-safe.
class Timestamps {
 public:
  virtual ~Timestamps() = default;
  // The largest timestamp that was assigned.
  virtual int64_t last() const = 0;
  // All later timestamps will be larger than this one.
  virtual void start_above(int64_t timestamp) = 0;
};

class PartitionSample;  // an estimate of the partitions of a table: partition_sample.h

class Store {
 public:
  using Done = std::move_only_function<void(base::Status)>;

  virtual ~Store() = default;

  // Submits the write set and returns. `done` is called exactly once, perhaps before commit() returns.
  // Concurrent commits share one sync.
  virtual void commit(WriteSet writes, Done done) = 0;
  // Blocks until the write set is committed. REQUIRES: not called from a Done callback.
  base::Status commit(WriteSet writes);

  // Reads the newest record. get_many() reads several as of one moment; values[i] is nullopt if there is no
  // record.
  virtual base::Result<bool> get(BytesView key, Bytes& value) const = 0;
  virtual base::Status get_many(std::span<const Bytes> keys,
                                std::span<std::optional<Bytes>> values) const = 0;
  // If this returns false after a read of rows, the partitions of these rows had no partition records
  // (row::RecordKind::partition) as of that read.
  virtual bool may_have_partition_records(uint32_t /*table_id*/) const { return true; }
  // Iterates over [begin, end) as of now. An empty end means no upper bound.
  virtual std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const = 0;
  virtual std::shared_ptr<const Snapshot> snapshot() const = 0;

  // The runs of index entries, in the order of their tokens. Together they cover all tokens. An entry is in
  // the same shard as its row. Never changes.
  virtual std::span<const EntryRun> entry_runs() const;
  // REQUIRES: `runs` are the runs of a store.
  static const EntryRun& run_of(std::span<const EntryRun> runs, int64_t token);

  // While the result exists, no other server changes the records near this key: the catalogue for the empty
  // key, otherwise the partitions with the key's token. nullptr: another server may change them.
  virtual std::shared_ptr<const void> hold(BytesView key) const;
  // If two calls return the same number while the key is held, no other server has changed these records in
  // between.
  virtual uint64_t tenure_of(BytesView /*key*/) const { return 0; }

  // flush() writes memory tables to disk. compact() rewrites [begin, end) and purges expired and shadowed
  // data. Both may take long.
  virtual base::Status flush() = 0;
  virtual base::Status compact(BytesView begin, BytesView end) = 0;
  virtual void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) = 0;

  // Stores whose data moves between servers record the highest timestamp with each group of commits. When
  // they take over data of another server, they call start_above() before it can be read or written. nullptr
  // ends the use of the former object.
  virtual void set_timestamps(Timestamps*) {}

  // Creates a directory with a copy of the store as of one moment: every write set that was acknowledged
  // before the call, and no part of a later write set. Immutable files are linked, so it takes little time
  // and space. The copy is on the device when this returns. Stores without files return an error.
  virtual base::Result<std::vector<CheckpointFile>> checkpoint(const std::string& directory);
  // Sets how record keys are formatted in messages about damage. The function may be called on any thread
  // until it is replaced.
  virtual void set_key_formatter(std::function<std::string(BytesView key)>) {}

  virtual uint64_t approximate_size(BytesView begin, BytesView end) const = 0;
  virtual StoreStatistics statistics() const = 0;
  // Recent average time that the device takes for a group of commits; zero if commits do not wait for a
  // device. Cheap.
  virtual std::chrono::microseconds sync_time() const { return {}; }
  virtual std::vector<StoreFile> files() const { return {}; }
  // The largest partition within one file, by table id, in bytes before compression.
  virtual std::map<uint32_t, uint64_t> largest_partitions() const { return {}; }
  // Samples of the partitions of these tables. Records that are not in files, which store their own samples,
  // are read: up to `max_records` per table.
  virtual std::map<uint32_t, PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                                size_t max_records) const;
  // Calls the function on any thread for each partition above `bytes` in a newly written file, with the key
  // of its first record there. Must be reset to an empty function before the objects that it uses are
  // destroyed.
  virtual void set_large_partition_callback(uint64_t, std::function<void(BytesView key, uint64_t size)>) {}
  virtual std::vector<StoreTask> tasks() const { return {}; }
};

}  // namespace sibyl::storage
