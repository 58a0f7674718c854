// How large partitions are: counted while a data file is written, and kept in it.
#pragma once

#include <rocksdb/table_properties.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "storage/store.h"

namespace sibyl::storage::rocksdb {

// Told of partitions above a size. Thread-safe.
class PartitionWatch {
 public:
  // `key`: the partition's first record's.
  using Tell = std::function<void(BytesView key, uint64_t bytes)>;
  void set(uint64_t threshold, Tell tell);
  void finished(BytesView key, uint64_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<uint64_t> threshold_ = 0;  // 0: nobody listens
  Tell tell_;                            // guarded by mutex_
};

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_sizes(
    std::shared_ptr<const PartitionWatch> watch);

// The largest partition of each table in a file, by table id, from what was kept in it.
using LargestPartitions = std::map<uint32_t, uint64_t>;
void add_largest_partitions(const ::rocksdb::UserCollectedProperties& properties, LargestPartitions& largest);

}  // namespace sibyl::storage::rocksdb
