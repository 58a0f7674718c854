#include "storage/rocksdb/cache/large_records.h"

#include <chrono>

#include "storage/rocksdb/cache/large_blocks.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t min_record_bytes = 1 << 20;
// Statements with large records take about a second.
constexpr std::chrono::seconds max_reservation_wait{3};

thread_local bool is_background = false;

// The block of a record is compressed before the next record is added to the file.
class RecordReservations final : public ::rocksdb::TablePropertiesCollector {
 public:
  explicit RecordReservations(LargeBlocks& blocks) : blocks_(blocks) {}
  ~RecordReservations() override {
    if (holds_) blocks_.end_record();
  }

  ::rocksdb::Status AddUserKey(const ::rocksdb::Slice&, const ::rocksdb::Slice& value, ::rocksdb::EntryType,
                               ::rocksdb::SequenceNumber, uint64_t) override {
    if (holds_ || value.size() >= min_record_bytes) reserve(value.size());
    return ::rocksdb::Status::OK();
  }
  ::rocksdb::Status Finish(::rocksdb::UserCollectedProperties*) override { return ::rocksdb::Status::OK(); }
  ::rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "sibyl.RecordReservations"; }

 private:
  void reserve(size_t bytes) {
    reservation_ = {};
    holds_ = bytes >= min_record_bytes;
    if (holds_)
      reservation_ = blocks_.begin_record(bytes, 1);
    else
      blocks_.end_record();
  }

  LargeBlocks& blocks_;
  base::MemoryReservation reservation_;
  bool holds_ = false;
};

class RecordReservationsFactory final : public ::rocksdb::TablePropertiesCollectorFactory {
 public:
  explicit RecordReservationsFactory(LargeBlocks& blocks) : blocks_(blocks) {}
  ::rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new RecordReservations(blocks_);
  }
  const char* Name() const override { return "sibyl.RecordReservations"; }

 private:
  LargeBlocks& blocks_;
};

}  // namespace

void mark_background_thread() {
  is_background = true;
}

bool is_background_thread() {
  return is_background;
}

base::MemoryReservation reserve_in_background(size_t bytes) {
  if (!is_background || bytes < min_record_bytes) return {};
  base::MemoryReservation reservation(bytes);
  (void)base::MemoryReservation::wait_until_fits(max_reservation_wait);
  return reservation;
}

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_record_reservations(LargeBlocks& blocks) {
  return std::make_shared<RecordReservationsFactory>(blocks);
}

}  // namespace sibyl::storage::rocksdb
