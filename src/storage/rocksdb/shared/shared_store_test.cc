// The store with its files on an object store.
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include "base/test_directory.h"
#include "storage/conformance.h"
#include "storage/objects/memory/memory_objects.h"
#include "storage/purge_conformance.h"
#include "storage/rocksdb/commit_log.h"
#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/rocksdb_store.h"
#include "storage/rocksdb/shared/object_file_system.h"
#include "storage/rocksdb/shared/open_sharded_store.h"
#include "storage/rocksdb/shared/shared_storage.h"
#include "storage/rocksdb/shared/shared_store.h"

namespace sibyl::storage::conformance {
namespace {

using objects::MemoryObjects;
using objects::ObjectDirectory;

// Files on objects, whose mutations fail in all ways that can be repeated; the log on a local disk.
class SharedFilesHarness final : public Harness {
 public:
  SharedFilesHarness() {
    objects_.set_faults({.lost_request = 0.02, .lost_reply = 0.02, .late = 0.02, .duplicated = 0.02});
    options_.clock = &clock_;
    options_.automatic_compaction = false;
    reopen();
  }
  ~SharedFilesHarness() override { close(); }
  Store& store() override { return *store_; }
  base::ManualClock& clock() override { return clock_; }
  void fail_commits(bool fail) override { disk_.fail_all = fail; }
  void reopen() override {
    close();
    client_ = objects_.connect();
    auto directory = ObjectDirectory::open({.store = client_.get(), .name = "shard"});
    if (!directory) throw std::runtime_error(directory.error().text());
    directory_ = std::move(*directory);
    shared_ = std::make_shared<rocksdb::SharedStorage>();
    shared_->files = rocksdb::make_object_file_system(*directory_);
    shared_->open_log = [this](const rocksdb::WriteLog::Replay& replay, BytesView) {
      rocksdb::CommitLog::Options log;
      log.directory = log_directory_.path();
      log.segment_bytes = 4096;
      log.disk = &disk_;
      return rocksdb::CommitLog::open(std::move(log), replay);
    };
    options_.shared = shared_;
    auto opened = rocksdb::open_store({}, options_);
    if (!opened) throw std::runtime_error(opened.error().text());
    store_ = std::move(*opened);
  }

 private:
  void close() {
    store_.reset();
    options_.shared.reset();
    shared_.reset();
    if (directory_) (void)directory_->release();
    directory_.reset();
  }

  base::TemporaryDirectory log_directory_;
  rocksdb::FaultyDisk disk_;
  MemoryObjects objects_{{}};
  std::unique_ptr<objects::ObjectStore> client_;
  std::unique_ptr<ObjectDirectory> directory_;
  std::shared_ptr<rocksdb::SharedStorage> shared_;
  base::ManualClock clock_{0};
  rocksdb::Options options_;
  std::unique_ptr<Store> store_;
};

const MakeHarness make_harness = [] { return std::make_unique<SharedFilesHarness>(); };
INSTANTIATE_TEST_SUITE_P(SharedFiles, StoreConformance, testing::Values(make_harness));
INSTANTIATE_TEST_SUITE_P(SharedFiles, StorePurge, testing::Values(make_harness));

// Files and log on objects.
class SharedStoreHarness final : public Harness {
 public:
  SharedStoreHarness() {
    objects_.set_faults({.lost_request = 0.02, .lost_reply = 0.02, .late = 0.02, .duplicated = 0.02});
    reopen();
  }
  ~SharedStoreHarness() override { store_.reset(); }
  Store& store() override { return *store_; }
  base::ManualClock& clock() override { return clock_; }
  void fail_commits(bool fail) override { objects_.set_full(fail); }
  void reopen() override {
    store_.reset();
    rocksdb::SharedStoreOptions options;
    options.name = "shard";
    options.store.clock = &clock_;
    options.store.automatic_compaction = false;
    options.store.log_segment_bytes = 4096;
    auto opened = rocksdb::open_shared_store(objects_.connect(), options);
    if (!opened) throw std::runtime_error(opened.error().text());
    store_ = std::move(*opened);
  }

 private:
  MemoryObjects objects_{{}};
  base::ManualClock clock_{0};
  std::unique_ptr<Store> store_;
};

const MakeHarness make_shared_store = [] { return std::make_unique<SharedStoreHarness>(); };
INSTANTIATE_TEST_SUITE_P(SharedStore, StoreConformance, testing::Values(make_shared_store));
INSTANTIATE_TEST_SUITE_P(SharedStore, StorePurge, testing::Values(make_shared_store));

// Spreads keys over shards without any order, so that most write sets of the suite are over several shards.
class SpreadShards final : public ShardMap {
 public:
  uint32_t count() const override { return 3; }
  TokenSpan tokens_of(uint32_t) const override { return {}; }
  uint32_t shard_of(BytesView key) const override {
    constexpr size_t partition = 12;  // the part of a key that names the partition, which is in one shard
    uint32_t sum = 0;
    for (const char each : key.substr(0, partition)) sum = sum * 31 + static_cast<unsigned char>(each);
    return sum % count();
  }
  Range shards_of(BytesView, BytesView) const override { return {{0, 1, 2}, false}; }
};

// One server owns all shards. The store is reopened as in a takeover by another server, sometimes without a
// clean stop.
class ShardedStoreHarness final : public Harness {
 public:
  explicit ShardedStoreHarness(std::shared_ptr<const ShardMap> shards) : shards_(std::move(shards)) {
    objects_.set_faults({.lost_request = 0.01, .lost_reply = 0.01, .late = 0.01, .duplicated = 0.01});
    reopen();
  }
  ~ShardedStoreHarness() override { close(); }
  Store& store() override { return *store_; }
  base::ManualClock& clock() override { return clock_; }
  void fail_commits(bool fail) override { objects_.set_full(fail); }
  void reopen() override {
    const bool is_clean = ++opens_ % 2 == 0;
    if (is_clean) close();
    auto client = objects_.connect();
    rocksdb::ShardedStoreOptions options;
    options.objects = client.get();
    options.shards = shards_;
    options.log = "log-" + std::to_string(opens_);
    options.store.clock = &clock_;
    options.store.automatic_compaction = false;
    options.store.log_segment_bytes = 4096;
    auto opened = rocksdb::open_sharded_store(options);
    if (!opened) throw std::runtime_error(opened.error().text());
    std::vector<FormerLog> logs;
    if (opens_ > 1) logs = {{"log-" + std::to_string(opens_ - 1), opens_ - 1}};
    for (uint32_t shard = 0; shard < shards_->count(); ++shard)
      if (const auto status = (*opened)->open_shard(shard, opens_, logs); !status)
        throw std::runtime_error(status.error().text());
    close();  // closes like a server that was taken over, unless it was closed before
    client_ = std::move(client);
    store_ = std::move(*opened);
  }

 private:
  void close() {
    store_.reset();
    client_.reset();
  }

  const std::shared_ptr<const ShardMap> shards_;
  MemoryObjects objects_{{}};
  base::ManualClock clock_{0};
  uint64_t opens_ = 0;
  std::unique_ptr<objects::ObjectStore> client_;
  std::unique_ptr<ShardedStore> store_;
};

const MakeHarness make_spread = [] {
  return std::make_unique<ShardedStoreHarness>(std::make_shared<SpreadShards>());
};
const MakeHarness make_by_token = [] {
  return std::make_unique<ShardedStoreHarness>(std::make_shared<TokenShards>(4));
};
INSTANTIATE_TEST_SUITE_P(SpreadShards, StoreConformance, testing::Values(make_spread));
INSTANTIATE_TEST_SUITE_P(TokenShards, StoreConformance, testing::Values(make_by_token));
INSTANTIATE_TEST_SUITE_P(TokenShards, StorePurge, testing::Values(make_by_token));

}  // namespace
}  // namespace sibyl::storage::conformance
