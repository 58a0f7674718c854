#include "storage/rocksdb/cache/partition_record_tables.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "row/record_key.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr const char* property_name = "sibyl.partition_record_tables";

uint32_t table_id_of(BytesView key) {
  return key.size() < sizeof(uint32_t) ? 0 : base::read_big_endian<uint32_t>(key);
}

class KeyHandler final : public ::rocksdb::WriteBatch::Handler {
 public:
  using Status = ::rocksdb::Status;
  using Slice = ::rocksdb::Slice;
  explicit KeyHandler(PartitionRecordTables& tables) : tables_(tables) {}
  Status PutCF(uint32_t, const Slice& key, const Slice&) override { return add(key); }
  Status MergeCF(uint32_t, const Slice& key, const Slice&) override { return add(key); }
  Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }

 private:
  Status add(const Slice& key) {
    tables_.add_key(view_of(key));
    return Status::OK();
  }
  PartitionRecordTables& tables_;
};

}  // namespace

void PartitionRecordTables::add_key(BytesView key) noexcept {
  std::atomic<bool>& flag = flag_of(table_id_of(key));
  if (flag.load(std::memory_order_relaxed)) return;
  row::RecordKey parsed;
  if (row::parse_record_key(key, parsed) && parsed.kind == row::RecordKind::row) return;
  flag.store(true, std::memory_order_release);
}

void PartitionRecordTables::add_keys(const ::rocksdb::WriteBatch& batch) {
  KeyHandler handler(*this);
  batch.Iterate(&handler).PermitUncheckedError();
}

void PartitionRecordTables::add_range(BytesView first_key, BytesView last_key) {
  const uint64_t first = table_id_of(first_key), last = std::max<uint64_t>(first, table_id_of(last_key));
  const uint64_t count = std::min<uint64_t>(last - first + 1, flags);
  for (uint64_t i = 0; i < count; ++i)
    flag_of(static_cast<uint32_t>(first + i)).store(true, std::memory_order_release);
}

// The properties are read as of one moment. Files that are written later have only records of these files,
// and of commits, for which add_key() was called.
void PartitionRecordTables::load(::rocksdb::DB& database) {
  if (add_tables_of(database)) is_loaded_.store(true, std::memory_order_release);
}

void PartitionRecordTables::load_shard(::rocksdb::DB& database) {
  if (!add_tables_of(database))
    for (std::atomic<bool>& flag : flags_) flag.store(true, std::memory_order_release);
  is_loaded_.store(true, std::memory_order_release);
}

// Returns false if the tables of some file are unknown. Then every table may have partition records.
bool PartitionRecordTables::add_tables_of(::rocksdb::DB& database) {
  ::rocksdb::TablePropertiesCollection properties;
  std::vector<::rocksdb::LiveFileMetaData> files;
  database.GetLiveFilesMetaData(&files);
  if (!database.GetPropertiesOfAllTables(&properties).ok()) return false;
  std::map<std::string, const ::rocksdb::LiveFileMetaData*> ranges;
  for (const auto& file : files) ranges[file.db_path + file.name] = &file;
  for (const auto& [name, of_file] : properties) {
    const auto found = of_file->user_collected_properties.find(property_name);
    if (found != of_file->user_collected_properties.end()) {
      for (BytesView rest = found->second; rest.size() >= sizeof(uint32_t);
           rest.remove_prefix(sizeof(uint32_t)))
        flag_of(base::read_big_endian<uint32_t>(rest)).store(true, std::memory_order_release);
      continue;
    }
    const auto range = ranges.find(name);
    if (range == ranges.end()) return false;  // the file has no list, and the range of its keys is unknown
    add_range(range->second->smallestkey, range->second->largestkey);
  }
  return true;
}

void write_partition_record_tables(const std::set<uint32_t>& tables,
                                   ::rocksdb::UserCollectedProperties& properties) {
  Bytes encoded;
  for (const uint32_t table : tables) base::append_big_endian(encoded, table);
  properties.emplace(property_name, std::move(encoded));
}

}  // namespace sibyl::storage::rocksdb
