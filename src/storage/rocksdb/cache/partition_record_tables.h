// Knows which tables have no partition records: no static cells, no deleted partitions, no range deletions.
// A point read of such a table needs the row alone.
//
// Every data file lists the tables whose partition records it holds. The lists are read after the store was
// opened; until then every table may have partition records. The committer adds the tables of its writes
// before these become visible. A table is never removed while the store is open.
#pragma once

#include <rocksdb/table_properties.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <set>

#include "base/bytes.h"

namespace rocksdb {
class DB;
class WriteBatch;
}  // namespace rocksdb

namespace sibyl::storage::rocksdb {

using base::Bytes;
using base::BytesView;

class PartitionRecordTables {
 public:
  // If this returns false after a read, the read has missed no partition record of the table. Thread-safe.
  bool may_have(uint32_t table_id) const {
    return !is_loaded_.load(std::memory_order_acquire) || flag_of(table_id).load(std::memory_order_acquire);
  }

  // Adds the table if this is the key of a partition record. The committer must call it for every key that
  // it writes, before the write is visible.
  void add_key(BytesView key) noexcept;
  void add_keys(const ::rocksdb::WriteBatch& batch);

  // Adds the tables that the data files list. A file without a list, which an earlier version has written,
  // adds every table in its range.
  void load(::rocksdb::DB& database);
  // Like load(), for one of several stores that share this object. Call it once for each store, before the
  // store is read. A store without files has no tables.
  void load_shard(::rocksdb::DB& database);

 private:
  static constexpr size_t flags = 1 << 12;  // if several tables share a flag, they only lose the advantage

  std::atomic<bool>& flag_of(uint32_t table_id) { return flags_[table_id % flags]; }
  const std::atomic<bool>& flag_of(uint32_t table_id) const { return flags_[table_id % flags]; }
  bool add_tables_of(::rocksdb::DB& database);
  void add_range(BytesView first_key, BytesView last_key);

  std::array<std::atomic<bool>, flags> flags_{};
  std::atomic<bool> is_loaded_ = false;
};

// Writes the list of tables for a data file. For collectors of properties, which are called while the file is
// written.
void write_partition_record_tables(const std::set<uint32_t>& tables,
                                   ::rocksdb::UserCollectedProperties& properties);

}  // namespace sibyl::storage::rocksdb
