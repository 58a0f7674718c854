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

// --- Iterators over records of one token, which skip memory tables and files by their filters.

const std::vector<Bytes>& keys_of_tokens() {
  static const std::vector<Bytes> keys = [] {
    std::vector<Bytes> all;
    for (const char* prefix : {"tab1token--1", "tab1token--2", "tab1token--3", "tab2token--1"})
      for (const char* rest : {"", "a", "ab", "b"}) all.push_back(Bytes(prefix) + rest);
    return all;
  }();
  return keys;
}

WriteSet some_writes_of_tokens() {
  const auto key = [] { return *rc::gen::elementOf(keys_of_tokens()); };
  WriteSet writes;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        writes.erase(key());
        break;
      case 1:
        writes.erase_range(key(), key());
        break;
      case 2:
        writes.put(key(), "value");
        break;
      default:
        writes.merge(key(), row::generate::anything());
    }
  }
  return writes;
}

TEST(TokenIterators, EqualAMap) {
  EXPECT_TRUE(rc::check([] {
    const base::TemporaryDirectory directory;
    rocksdb::Options options;
    options.durability = rocksdb::Durability::periodic;
    options.automatic_compaction = false;
    const auto store = *rocksdb::open_store(directory.path(), options);
    State state;
    for (int step = *rc::gen::inRange(1, 30); step > 0; --step) {
      const int action = *rc::gen::inRange(0, 6);
      if (action == 0) RC_ASSERT(store->flush().has_value());
      if (action == 1) RC_ASSERT(store->compact({}, {}).has_value());
      if (action > 1) {
        WriteSet writes = some_writes_of_tokens();
        apply_to_model(writes, state);
        RC_ASSERT(store->commit(std::move(writes)).has_value());
      }
      const Bytes begin = *rc::gen::elementOf(keys_of_tokens());
      const Bytes end = begin.substr(0, 12) + *rc::gen::element<Bytes>("a", "b", "c");
      if (begin <= end) expect_seeks(*store, state, begin, end, keys_of_tokens());
      const Bytes far = *rc::gen::elementOf(keys_of_tokens());
      if (begin <= far) expect_seeks(*store->snapshot(), state, begin, far, keys_of_tokens());
      RC_ASSERT(!testing::Test::HasFailure());
    }
  }));
}

// --- The row cache: point reads, which use it, see the same rows as iterators, which bypass it

// Compares the visible rows of one partition with point reads of the partition record and of some rows.
void expect_equal_views(const Store& store, const std::vector<Bytes>& clusterings, int64_t now) {
  std::vector<Bytes> keys = {partition_key()};
  for (const Bytes& clustering : clusterings) keys.push_back(row_key(clustering));
  std::vector<std::optional<Bytes>> values(keys.size());
  RC_ASSERT(store.get_many(keys, values).has_value());
  row::Fragment partition;
  RC_ASSERT(!values[0] || row::decode(*values[0], partition));
  if (partition.has_range_deletions) return;  // such partitions are read with iterators
  State by_point, by_iterator;
  for (size_t i = 0; i < keys.size(); ++i)
    if (values[i]) by_point[keys[i]] = *values[i];
  const State all = forwards(*store.iterate({}, {}));
  for (const Bytes& key : keys)
    if (const auto found = all.find(key); found != all.end()) by_iterator.insert(*found);
  RC_ASSERT(visible_rows(by_point, now) == visible_rows(by_iterator, now));
}

// Timestamps are arbitrarily old: a write may be older than tombstones that were already purged.
TEST(RowCachePurges, PointReadsEqualIterators) {
  EXPECT_TRUE(rc::check([] {
    const base::TemporaryDirectory directory;
    base::ManualClock clock(100 * 1'000'000);
    rocksdb::Options options;
    options.durability = rocksdb::Durability::periodic;
    options.clock = &clock;
    options.automatic_compaction = false;
    // In the smaller cache, a few entries are enough to evict each other.
    options.row_cache_bytes = *rc::gen::element<uint64_t>(256 * 600, 1 << 20);
    const auto store = *rocksdb::open_store(directory.path(), options);
    store->set_purge_policy(purge_policy());
    int64_t now = 100;
    for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
      switch (*rc::gen::inRange(0, 8)) {
        case 0:
          now += *rc::gen::inRange(1, 10);
          clock.set_micros(now * 1'000'000);
          break;
        case 1:
          RC_ASSERT(store->flush().has_value());
          break;
        case 2:
          RC_ASSERT(store->compact({}, {}).has_value());
          break;
        default:
          RC_ASSERT(store->commit(some_change(now, now - 6)).has_value());
      }
      const auto clusterings = *rc::gen::container<std::vector<Bytes>>(
          *rc::gen::inRange<size_t>(1, 3), rc::gen::element<Bytes>("a", "b", "c"));
      expect_equal_views(*store, clusterings, now + *rc::gen::inRange(0, 5));
    }
  }));
}

}  // namespace
}  // namespace sibyl::storage::conformance
