// Samples of partitions (storage/partition_sample.h): taken while a data file is written, and kept in it.
#pragma once

#include <rocksdb/table_properties.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/partition_sample.h"

namespace rocksdb {
class DB;
}

namespace sibyl::storage::rocksdb {

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_samples();

// Tables that were erased as a whole (TRUNCATE): what files had of them before is gone for readers, though
// their samples are still there. Files tell of erasures that they hold, this of those that are only in
// memory. Thread-safe.
class ErasedTables {
 public:
  // Of [begin, end), after the last write of sequence number `after`.
  void add(BytesView begin, BytesView end, uint64_t after);
  // 0: never.
  uint64_t erased_after(uint32_t table) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, uint64_t> tables_;
};

// What files say of these tables, and what memory tables hold: as many records of each are looked at.
std::map<uint32_t, PartitionSample> partition_samples(::rocksdb::DB& database, const ErasedTables& erased,
                                                      std::span<const uint32_t> tables, size_t most_records);

}  // namespace sibyl::storage::rocksdb
