#include "storage/rocksdb/rocksdb_store.h"

#include "base/test_directory.h"
#include "storage/conformance.h"
#include "storage/purge_conformance.h"
#include "storage/rocksdb/faulty_disk.h"

namespace sibyl::storage::conformance {
namespace {

class RocksHarness final : public Harness {
 public:
  RocksHarness() {
    options_.clock = &clock_;
    options_.log_disk = &disk_;
    options_.log_segment_bytes = 4096;
    options_.automatic_compaction = false;
    reopen();
  }
  Store& store() override { return *store_; }
  base::ManualClock& clock() override { return clock_; }
  void fail_commits(bool fail) override { disk_.fail_all = fail; }
  void reopen() override {
    store_.reset();
    auto opened = rocksdb::open_store(directory_.path(), options_);
    if (!opened) throw std::runtime_error(opened.error().text());
    store_ = std::move(*opened);
  }

 private:
  base::TemporaryDirectory directory_;
  rocksdb::FaultyDisk disk_;
  base::ManualClock clock_{0};
  rocksdb::Options options_;
  std::unique_ptr<Store> store_;
};

const MakeHarness make_harness = [] { return std::make_unique<RocksHarness>(); };
INSTANTIATE_TEST_SUITE_P(RocksDB, StoreConformance, testing::Values(make_harness));
INSTANTIATE_TEST_SUITE_P(RocksDB, StorePurge, testing::Values(make_harness));

// A crash may lose unsynced data, including a deletion. The data that it deletes must not be purged before
// the deletion is on the device.
TEST(PeriodicSync, UnsyncedDeletionsDoNotPurge) {
  const base::TemporaryDirectory directory;
  base::ManualClock clock(1000 * 1'000'000);
  rocksdb::Options options;
  options.durability = rocksdb::Durability::periodic;
  options.clock = &clock;
  options.automatic_compaction = false;
  const auto store = *rocksdb::open_store(directory.path(), options);
  store->set_purge_policy(purge_policy());
  row::Fragment flag;
  flag.has_range_deletions = true;
  WriteSet writes;
  writes.merge(row_key("a"), encoded(one_cell(10)));
  writes.merge(range_key("a", "b"), encoded(one_deletion(20, 1000)));
  ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  ASSERT_TRUE(store->flush().has_value());
  writes = {};
  writes.merge(partition_key(), encoded(flag));
  writes.merge(partition_key(), encoded(one_deletion(30, 1000)));
  writes.merge(range_key("a", "c"), encoded(one_deletion(30, 1000)));
  ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  const auto compact = [&] {
    EXPECT_TRUE(store->compact({}, {}).has_value());
    return forwards(*store->iterate({}, {}));
  };
  State left = compact();
  EXPECT_TRUE(left.contains(row_key("a")));
  EXPECT_TRUE(left.contains(range_key("a", "b")));
  clock.set_micros((1000 + 3600) * int64_t{1'000'000});
  left = compact();
  EXPECT_FALSE(left.contains(row_key("a")));
  EXPECT_FALSE(left.contains(range_key("a", "b")));
}

}  // namespace
}  // namespace sibyl::storage::conformance
