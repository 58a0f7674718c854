// The store contract: a sorted map of mergeable rows.
//
// What every store promises, without a word of any engine:
//  1. Order. Keys are compared as unsigned bytes; iterators visit them in that order, or backwards.
//  2. Merging. merge(key, fragment) adds a fragment to a record; readers see row::merge of everything added
//  to it
//     since the last put or erase that covers the key. A plain write never reads first.
//  3. Atomicity. A WriteSet takes effect wholly or not at all, across tables, also after a crash; no reader
//  sees half
//     of one. Its operations apply in the order they were added.
//  4. Durability. When commit() reports success the write set survives a crash of the process, and, with
//     Durability::synced, of the machine. Write sets become visible to readers no later than success is
//     reported, and in one order that all readers agree on.
//  5. Failure. After commit() reports an error nothing of the write set is visible, now or later; the store
//  serves
//     reads on and accepts further commits as soon as its device does.
//  6. Snapshots and iterators see one moment: that of their making. They may outlive later commits, not the
//  store. An
//     iterator's key() and value() are valid until it moves.
//  7. Threads. A Store and a Snapshot may be used by any number of threads at once; an Iterator by one at a
//  time.
//     Callbacks run on a thread of the store's, and must not block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/histogram.h"
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
  // For records that are not rows: the catalogue's.
  void put(Bytes key, Bytes value) { add(Action::put, std::move(key), std::move(value)); }
  void erase(Bytes key) { add(Action::erase, std::move(key), {}); }
  // Everything in [begin, end) goes at once, at a cost that does not depend on how much that is.
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

// Walks records in [begin, end) of its making. Starts nowhere: seek first. After an error valid() is false
// and status() says why; a caller that reaches the end checks status() once.
class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual bool valid() const = 0;
  virtual void seek(BytesView key) = 0;           // the first record at or after key
  virtual void seek_for_prev(BytesView key) = 0;  // the last record at or before key
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
  // True when there is such a record.
  virtual base::Result<bool> get(BytesView key, Bytes& value) const = 0;
  virtual std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const = 0;
};

// How long a table's tombstones must be kept, by table id. Unknown ids from first_table_id on belong to
// dropped tables and may go wholly: set a policy that knows a new table before its first write. The catalogue
// and unknown ids below are left alone, and everything is until a policy has been set.
struct PurgePolicy {
  static constexpr uint32_t first_table_id = 1024;
  struct Table {
    uint32_t table_id = 0;
    int64_t gc_grace_seconds = 864'000;
    // Rows are written whole and end with their markers, whatever cells they hold: those of views.
    bool rows_end_with_marker = false;
  };
  std::vector<Table> tables;  // sorted by table_id
};

// Since the store was opened; what an engine has no such thing of stays zero.
struct StoreStatistics {
  uint64_t bytes_on_disk = 0;
  uint64_t bytes_in_memory = 0;
  uint64_t commit_groups = 0;  // how many synced groups, and how many write sets they held
  uint64_t commits = 0;
  uint64_t damage_met = 0;                // how often a read or a compaction met a block that is damaged
  uint64_t commits_refused = 0;           // as overloaded
  base::HistogramSnapshot group_commits;  // write sets in a group
  base::HistogramSnapshot sync_micros;    // writing a group to the log, and syncing it
  uint64_t log_bytes = 0;
  uint64_t memtable_bytes = 0;
  uint64_t files = 0;
  uint64_t cache_capacity_bytes = 0, cache_bytes = 0, cache_hits = 0, cache_misses = 0;
  uint64_t flushes = 0, flush_bytes = 0;
  uint64_t compactions = 0, compaction_bytes_read = 0, compaction_bytes_written = 0;
  uint64_t running_flushes = 0, running_compactions = 0;
  uint64_t pending_compaction_bytes = 0;
  uint64_t background_errors = 0;
};

// A data file: the records it may hold, first and last included.
struct StoreFile {
  std::string name;
  Bytes first_key, last_key;
  uint64_t bytes = 0;
};
// Files that are being rewritten.
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

class PartitionSample;  // partition_sample.h: what the partitions of a table look like

class Store {
 public:
  using Done = std::move_only_function<void(base::Status)>;

  virtual ~Store() = default;

  // Hands the write set over and returns; `done` is called exactly once, perhaps before commit() returns.
  // Concurrent commits share one sync.
  virtual void commit(WriteSet writes, Done done) = 0;
  // The same, waiting. REQUIRES: not called from a Done callback.
  base::Status commit(WriteSet writes);

  // The newest record, and several of them from one moment (values[i] is nullopt where there is none).
  virtual base::Result<bool> get(BytesView key, Bytes& value) const = 0;
  virtual base::Status get_many(std::span<const Bytes> keys,
                                std::span<std::optional<Bytes>> values) const = 0;
  // Records of [begin, end) as of now; an empty end is beyond every key.
  virtual std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const = 0;
  virtual std::shared_ptr<const Snapshot> snapshot() const = 0;

  // Writes memory tables to disk; rewrites [begin, end) purging what is expired or shadowed. Both may take
  // long.
  virtual base::Status flush() = 0;
  virtual base::Status compact(BytesView begin, BytesView end) = 0;
  virtual void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) = 0;

  // Makes a new directory with everything in it, as of one moment: every write set that was acknowledged
  // before the call, and of later ones none by half. What never changes is linked, so it takes neither long
  // nor space. On the device when it returns. Refused by stores without files.
  virtual base::Result<std::vector<CheckpointFile>> checkpoint(const std::string& directory);
  // How record keys are called in messages about damage. Called on any thread, until it is replaced.
  virtual void set_key_name(std::function<std::string(BytesView key)>) {}

  virtual uint64_t approximate_size(BytesView begin, BytesView end) const = 0;
  virtual StoreStatistics statistics() const = 0;
  // How long the device takes for a group of commits, lately; zero where commits do not wait for one. Cheap.
  virtual std::chrono::microseconds sync_time() const { return {}; }
  virtual std::vector<StoreFile> files() const { return {}; }
  // The largest partition that one file holds, by table id; bytes before compression.
  virtual std::map<uint32_t, uint64_t> largest_partitions() const { return {}; }
  // Samples of the partitions of these tables. Where records do not lie in files, which know theirs, as many
  // are looked at, for each table.
  virtual std::map<uint32_t, PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                                size_t most_records) const;
  // From now on `tell` is called, on any thread, for each partition above `bytes` in a file that is written,
  // with the key of its first record there.
  // Set it to nothing before what it uses is gone.
  virtual void watch_partitions(uint64_t, std::function<void(BytesView key, uint64_t size)>) {}
  virtual std::vector<StoreTask> tasks() const { return {}; }
};

}  // namespace sibyl::storage
