// Partition sizes, measured while a data file is written and stored in the file.
#pragma once

#include <rocksdb/table_properties.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "storage/store.h"

namespace sibyl::storage::rocksdb {

// Calls back for partitions above a size. Thread-safe.
class PartitionWatch {
 public:
  // `key` is the key of the partition's first record.
  using Callback = std::function<void(BytesView key, uint64_t bytes)>;
  void set(uint64_t threshold, Callback callback);
  void report(BytesView key, uint64_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<uint64_t> threshold_ = 0;  // 0: no callback
  Callback callback_;                    // guarded by mutex_
};

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_sizes(
    std::shared_ptr<const PartitionWatch> watch);

// Adds the largest partition of each table in a file, by table id, from the file's properties.
using LargestPartitions = std::map<uint32_t, uint64_t>;
void add_largest_partitions(const ::rocksdb::UserCollectedProperties& properties, LargestPartitions& largest);

}  // namespace sibyl::storage::rocksdb
