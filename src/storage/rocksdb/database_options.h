// How RocksDB is set up: its tables, memory and compactions.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {

// Everything but what belongs to one open store: its files, its purger and its listeners.
::rocksdb::Options database_options(const Options& options, const std::shared_ptr<::rocksdb::Cache>& cache);

}  // namespace sibyl::storage::rocksdb
