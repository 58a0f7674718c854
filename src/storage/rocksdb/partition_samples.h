// Samples of partitions (storage/partition_sample.h), taken while a data file is written and stored in the
// file.
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

// Tables that were erased as a whole (TRUNCATE) while the erasure is still only in memory. Their records in
// files are invisible to readers, but the files' samples still count them. Erasures that are in files are
// recorded there. Thread-safe.
class ErasedTables {
 public:
  // Adds the erasure of [begin, end), which follows the write with sequence number `after`.
  void add(BytesView begin, BytesView end, uint64_t after);
  void add(const ::rocksdb::WriteBatch& batch, uint64_t after);
  // Returns the tables whose erasure is not in files yet. `flushed`: files hold everything up to this
  // sequence number. All records that files hold of the returned tables are older than the erasure.
  std::set<uint32_t> only_in_memory(uint64_t flushed);

 private:
  std::mutex mutex_;
  std::map<uint32_t, uint64_t> tables_;  // sequence number of the last erasure, by table id
};

// Returns the tables that a file erases as a whole, each with the sequence number of the last erasure.
std::map<uint32_t, uint64_t> tables_erased_in(const ::rocksdb::UserCollectedProperties& properties);

// Combines the samples of files with samples of memory tables. In memory tables, up to `max_records` records
// of each table are read. For tables in `erased`, only memory tables count. `tokens` are the tokens of all
// partitions.
std::map<uint32_t, PartitionSample> partition_samples(::rocksdb::DB& database,
                                                      const std::set<uint32_t>& erased,
                                                      std::span<const uint32_t> tables, size_t max_records,
                                                      const TokenSpan& tokens);

}  // namespace sibyl::storage::rocksdb
