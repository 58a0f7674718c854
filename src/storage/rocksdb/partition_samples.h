// Samples of partitions (storage/partition_sample.h): taken while a data file is written, and kept in it.
#pragma once

#include <rocksdb/table_properties.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "storage/partition_sample.h"

namespace rocksdb {
class DB;
class WriteBatch;
}  // namespace rocksdb

namespace sibyl::storage::rocksdb {

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_samples();

// Tables that were erased as a whole (TRUNCATE) and whose erasure is still only in memory: what files have of
// them is gone for readers, though their samples are still there. Files tell of erasures that they hold.
// Thread-safe.
class ErasedTables {
 public:
  // Of [begin, end), after the last write of sequence number `after`.
  void add(BytesView begin, BytesView end, uint64_t after);
  void add(const ::rocksdb::WriteBatch& batch, uint64_t after);
  // Files have everything up to this sequence number. What they have of these tables is older than all that
  // was erased.
  std::set<uint32_t> only_in_memory(uint64_t flushed);

 private:
  std::mutex mutex_;
  std::map<uint32_t, uint64_t> tables_;  // the last erasure of each
};

// Tables whose records a file erases as a whole, each with the sequence number of the last erasure.
std::map<uint32_t, uint64_t> tables_erased_in(const ::rocksdb::UserCollectedProperties& properties);

// What files say of these tables, and what memory tables hold: as many records of each are looked at.
// `erased`: tables of which only memory counts.
std::map<uint32_t, PartitionSample> partition_samples(::rocksdb::DB& database,
                                                      const std::set<uint32_t>& erased,
                                                      std::span<const uint32_t> tables, size_t most_records);

}  // namespace sibyl::storage::rocksdb
