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

}  // namespace
}  // namespace sibyl::storage::conformance
