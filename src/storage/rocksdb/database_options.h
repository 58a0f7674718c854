// RocksDB's configuration: tables, memory and compactions.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {

// Returns all options except those that belong to one open store: its files, purger and listeners.
::rocksdb::Options database_options(const Options& options, const std::shared_ptr<::rocksdb::Cache>& cache);

}  // namespace sibyl::storage::rocksdb
