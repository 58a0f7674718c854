#include "storage/rocksdb/partition_sizes.h"

#include <algorithm>
#include <set>

#include "row/record_key.h"
#include "storage/rocksdb/cache/partition_record_tables.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr const char* sizes_property = "sibyl.largest_partitions";

// Receives the records of one file in order, so the records of a partition are consecutive.
class PartitionSizes final : public ::rocksdb::TablePropertiesCollector {
 public:
  explicit PartitionSizes(std::shared_ptr<const PartitionWatch> watch) : watch_(std::move(watch)) {}

  ::rocksdb::Status AddUserKey(const ::rocksdb::Slice& key, const ::rocksdb::Slice& value,
                               ::rocksdb::EntryType, ::rocksdb::SequenceNumber, uint64_t) override {
    row::RecordKey parsed;
    if (!row::parse_record_key(view_of(key), parsed)) return ::rocksdb::Status::OK();
    const BytesView partition = parsed.prefix(view_of(key));
    if (partition != BytesView(first_key_).substr(0, prefix_size_)) {
      end_partition();
      first_key_ = view_of(key);
      prefix_size_ = partition.size();
      table_id_ = parsed.table_id;
    }
    bytes_ += key.size() + value.size();
    if (parsed.kind != row::RecordKind::row) with_partition_records_.insert(parsed.table_id);
    return ::rocksdb::Status::OK();
  }
  ::rocksdb::Status Finish(::rocksdb::UserCollectedProperties* properties) override {
    end_partition();
    Bytes encoded;
    for (const auto& [table, bytes] : largest_) {
      base::append_big_endian(encoded, table);
      base::append_big_endian(encoded, bytes);
    }
    properties->emplace(sizes_property, std::move(encoded));
    write_partition_record_tables(with_partition_records_, *properties);
    return ::rocksdb::Status::OK();
  }
  ::rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "sibyl.PartitionSizes"; }

 private:
  void end_partition() {
    if (bytes_ == 0) return;
    uint64_t& largest = largest_[table_id_];
    largest = std::max(largest, bytes_);
    watch_->report(first_key_, bytes_);
    bytes_ = 0;
  }

  const std::shared_ptr<const PartitionWatch> watch_;
  Bytes first_key_;  // of the partition
  size_t prefix_size_ = 0;
  uint32_t table_id_ = 0;
  uint64_t bytes_ = 0;
  LargestPartitions largest_;
  std::set<uint32_t> with_partition_records_;
};

class PartitionSizesFactory final : public ::rocksdb::TablePropertiesCollectorFactory {
 public:
  explicit PartitionSizesFactory(std::shared_ptr<const PartitionWatch> watch) : watch_(std::move(watch)) {}
  ::rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new PartitionSizes(watch_);
  }
  const char* Name() const override { return "sibyl.PartitionSizes"; }

 private:
  const std::shared_ptr<const PartitionWatch> watch_;
};

}  // namespace

void PartitionWatch::set(uint64_t threshold, Callback callback) {
  const std::lock_guard lock(mutex_);
  threshold_ = callback ? threshold : 0;
  callback_ = std::move(callback);
}

void PartitionWatch::report(BytesView key, uint64_t bytes) const {
  const uint64_t threshold = threshold_.load(std::memory_order_relaxed);
  if (threshold == 0 || bytes <= threshold) return;
  const std::lock_guard lock(mutex_);
  if (callback_) callback_(key, bytes);
}

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_sizes(
    std::shared_ptr<const PartitionWatch> watch) {
  return std::make_shared<PartitionSizesFactory>(std::move(watch));
}

void add_largest_partitions(const ::rocksdb::UserCollectedProperties& properties,
                            LargestPartitions& largest) {
  const auto found = properties.find(sizes_property);
  if (found == properties.end()) return;
  constexpr size_t entry = sizeof(uint32_t) + sizeof(uint64_t);
  for (BytesView rest = found->second; rest.size() >= entry; rest.remove_prefix(entry)) {
    uint64_t& known = largest[base::read_big_endian<uint32_t>(rest)];
    known = std::max(known, base::read_big_endian<uint64_t>(rest.substr(sizeof(uint32_t))));
  }
}

}  // namespace sibyl::storage::rocksdb
