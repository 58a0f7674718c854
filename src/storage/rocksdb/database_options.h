// RocksDB's configuration: tables, memory and compactions.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {

// Memory tables that a flush merges into one file.
inline constexpr int tables_per_flush = 4;
// The size of one memory table. `write_buffer_bytes` is the size of all of them.
inline constexpr uint64_t memory_table_bytes(uint64_t write_buffer_bytes) {
  return write_buffer_bytes / tables_per_flush;
}

// Returns all options, except options that belong to one open store: its files, purger and listeners.
//
// New files have whole filters and indexes while those of all files fit a quarter of the block cache, because
// then a point read needs fewer look-ups in the cache. Otherwise they are partitioned into blocks of 4 KiB, so
// that the cache holds those in use. Every file describes its own layout, so a store may have both.
//
// `data_bytes` returns the size of all files. It is called on RocksDB's threads.
::rocksdb::Options database_options(const Options& options, const std::shared_ptr<::rocksdb::Cache>& cache,
                                    std::function<uint64_t()> data_bytes);

// True if the filters and indexes of `data_bytes` of data fit into the cache. Exposed for tests.
bool fits_whole(uint64_t data_bytes, uint64_t cache_bytes);

}  // namespace sibyl::storage::rocksdb
