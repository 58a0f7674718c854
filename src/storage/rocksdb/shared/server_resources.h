// The resources that the shards of one server share: memory, caches, and the thread that commits.
#pragma once

#include <rocksdb/write_buffer_manager.h>

#include <functional>
#include <memory>

#include "storage/rocksdb/cache/counting_cache.h"
#include "storage/rocksdb/cache/partition_record_tables.h"
#include "storage/rocksdb/cache/row_cache.h"

namespace sibyl::storage::rocksdb {

struct ServerResources {
  std::shared_ptr<CountingCache> block_cache;
  std::shared_ptr<::rocksdb::WriteBufferManager> memory;  // memory of all memory tables
  PartitionRecordTables partition_records;
  std::unique_ptr<RowCache> row_cache;  // nullptr: none. Only the thread that commits changes it.
  // Runs the task on the thread that commits, and waits for it.
  std::function<void(const std::function<void()>& task)> run_on_committer;
};

}  // namespace sibyl::storage::rocksdb
