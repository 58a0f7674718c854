// Makes EntryTree the memory table of RocksDB.
#pragma once

#include <rocksdb/memtablerep.h>

#include <memory>

namespace sibyl::storage::rocksdb {

// REQUIRES: user keys are compared as bytes, and one thread at a time inserts (no
// allow_concurrent_memtable_write).
std::shared_ptr<::rocksdb::MemTableRepFactory> make_tree_tables();

}  // namespace sibyl::storage::rocksdb
