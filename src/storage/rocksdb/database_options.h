// RocksDB's configuration: tables, memory and compactions.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {

// Memory tables that a flush merges into one file.
inline constexpr int tables_per_flush = 4;
// The size of one of them. `write_buffer_bytes` is the size of all.
inline constexpr uint64_t memory_table_bytes(uint64_t write_buffer_bytes) {
  return write_buffer_bytes / tables_per_flush;
}

// Returns all options except those that belong to one open store: its files, purger and listeners.
::rocksdb::Options database_options(const Options& options, const std::shared_ptr<::rocksdb::Cache>& cache);

}  // namespace sibyl::storage::rocksdb
