// The row cache: merged records of tables by key, for point reads.
//
// An entry holds the bytes that RocksDB returned for a key, or that there is no such record. Visibility at a
// time, filters and dropped columns are applied by readers, because they depend on the request.
//
// Three kinds of counters, each shared by all keys with the same hash. An odd value means that a commit is
// being applied; every commit to such a key therefore raises the value by two.
//
//   version          by record key
//   deletion epoch   by partition: commits of a partition record that deletes rows
//   table epoch      by table: commits that erase ranges
//
// An entry keeps the sum of both epochs of its fill and is valid only while they are unchanged.
//
// A commit, on the committer's thread, after its group was written to the log:
//
//   begin()   makes the counters of all its keys odd
//   RocksDB's Write(): the group becomes visible
//   finish()  replaces or removes the entries of its keys, then makes the counters even. After a failure it
//             only removes entries.
//   The group is acknowledged.
//
// A read of one or more keys:
//
//   observe() each key, then find() each key. If all are found, and is_unchanged() holds for all of them
//   afterwards, then all values were current at one moment: the read is answered from the cache.
//   Otherwise read all keys from RocksDB, never only the missing ones, and pass the result to fill().
//   fill() refuses a value if the counters have changed since observe().
//
// Compaction purges expired and shadowed data without changing what readers see, and the cache does not
// notice. Three rules keep entries correct:
//
//  1. A commit replaces an entry by the merge of both only if neither is perishable. Otherwise the store may
//     have dropped a tombstone that the entry still has, and a write with an older timestamp is visible in
//     the store.
//  2. A partition record that deletes rows is not filled, and neither are rows that were read together with
//     one. They may hold data that the deletion covers; compaction may drop that data and then the deletion.
//  3. A row is filled only if its partition record was read as of the same moment, or if the table has no
//     partition records.
//
// Memory: entries are charged with the size of their blocks, and the index is included.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "storage/rocksdb/cache/cache_shard.h"
#include "storage/rocksdb/cache/partition_record_tables.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class RowCache {
 public:
  static constexpr size_t max_record_bytes = 16 << 10;  // larger records are not cached

  // The values of a key's counters when a read began.
  struct Observation {
    uint64_t hash = 0;
    uint64_t epoch = 0;
    uint32_t version = 0;
    uint16_t deletion_slot = 0, table_slot = 0;
    bool is_cacheable = false;  // false: the key is not a table's, or a commit is being applied
  };
  enum class Found : uint8_t { unknown, absent, present };
  struct Statistics {
    uint64_t capacity_bytes = 0, bytes = 0, entries = 0;
    uint64_t hits = 0, misses = 0, evictions = 0;
  };

  // `tables` must outlive the cache. `shard_bits` is smaller in tests only.
  RowCache(uint64_t capacity_bytes, const PartitionRecordTables& tables, unsigned shard_bits = 8);

  // --- Readers. Thread-safe.
  Observation observe(BytesView key) const;
  Found find(BytesView key, const Observation& observed, Bytes& value);
  bool is_unchanged(const Observation& observed) const;
  // Inserts the record that RocksDB returned after observe(). nullopt: there is no such record.
  void fill(BytesView key, const Observation& observed, std::optional<BytesView> value);
  // Fills the records of one read according to rules 2 and 3.
  void fill_all(std::span<const Bytes> keys, std::span<const Observation> observed,
                std::span<const std::optional<Bytes>> values);
  // Like fill_all(), for a read of one key.
  void fill_one(BytesView key, const Observation& observed, std::optional<BytesView> value);

  // --- The committer. For every group: clear(), add() each write set, begin(), and finally finish().
  void clear() noexcept { touched_.clear(), erased_.clear(); }
  // Borrows the write set until the next clear().
  void add(const WriteSet& writes);
  void begin() noexcept;
  void finish(bool is_committed) noexcept;
  // Invalidates all entries, and values that are being read. REQUIRES: not between begin() and finish().
  void invalidate_all() noexcept;

  // Thread-safe.
  void set_capacity(uint64_t capacity_bytes);
  Statistics statistics() const;

 private:
  static constexpr size_t version_slots = 1 << 16;
  static constexpr size_t deletion_slots = 1 << 16;
  static constexpr size_t table_slots = 1 << 12;
  // Merging rewrites the whole record for every write, so larger records are removed from the cache instead.
  static constexpr size_t max_merged_bytes = 2 << 10;

  struct alignas(64) Shard {
    explicit Shard(uint64_t capacity_bytes) : entries(capacity_bytes) {}
    mutable std::mutex mutex;
    CacheShard entries;  // guarded by mutex, like the counts
    uint64_t hits = 0, misses = 0;
  };
  struct Touched {
    const WriteSet::Operation* operation;
    uint64_t hash;
    bool deletes_rows;
  };
  struct ErasedTables {
    uint32_t first, last;
  };

  std::atomic<uint32_t>& version_of(uint64_t hash) const { return versions_[(hash >> 32) % version_slots]; }
  Shard& shard_of(uint64_t hash) const { return *shards_[(hash >> 56) & (shards_.size() - 1)]; }
  // `readable`: the partition of this read, if its record does not delete rows.
  void fill_record(BytesView key, const Observation& observed, std::optional<BytesView> value,
                   BytesView& readable);
  // Makes the counters of the group odd or even, if they are not.
  void set_counters(bool odd) noexcept;
  void update(const Touched& touched, bool is_committed) noexcept;
  void apply(const WriteSet::Operation& operation, CacheShard& shard, CacheShard::Entry& entry);

  const PartitionRecordTables& tables_;
  std::unique_ptr<std::atomic<uint32_t>[]> versions_;
  std::unique_ptr<std::atomic<uint64_t>[]> deletion_epochs_;
  std::unique_ptr<std::atomic<uint64_t>[]> table_epochs_;
  std::vector<std::unique_ptr<Shard>> shards_;  // their number is a power of two
  // The keys and ranges of the current group. Used by the committer's thread only.
  std::vector<Touched> touched_;
  std::vector<ErasedTables> erased_;
  Bytes merged_;
};

}  // namespace sibyl::storage::rocksdb
