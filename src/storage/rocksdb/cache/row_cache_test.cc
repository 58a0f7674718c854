// Deterministic interleavings of readers and one committer. row_cache_store_test.cc runs them concurrently on
// a store.
#include "storage/rocksdb/cache/row_cache.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "row/merge.h"
#include "row/record_key.h"
#include "storage/rocksdb/cache/test_rows.h"

namespace sibyl::storage::rocksdb {
namespace {

using Found = RowCache::Found;

class RowCacheTest : public testing::Test {
 protected:
  // Returns what a read finds in the cache, or nothing.
  std::string cached(const Bytes& key) {
    Bytes value;
    const auto observed = cache_.observe(key);
    const Found found = cache_.find(key, observed, value);
    if (found == Found::unknown || !cache_.is_unchanged(observed)) return "unknown";
    return found == Found::absent ? "absent" : value;
  }
  void fill(const Bytes& key, std::optional<BytesView> value) {
    cache_.fill(key, cache_.observe(key), value);
  }
  void fill_all(const std::vector<Bytes>& keys, const std::vector<std::optional<Bytes>>& values) {
    std::vector<RowCache::Observation> observed;
    for (const Bytes& key : keys) observed.push_back(cache_.observe(key));
    cache_.fill_all(keys, observed, values);
  }
  void begin(const WriteSet& writes) {
    cache_.clear();
    cache_.add(writes);
    cache_.begin();
  }
  void commit(const WriteSet& writes, bool is_committed = true) {
    begin(writes);
    cache_.finish(is_committed);
  }
  static WriteSet merge(const Bytes& key, const Bytes& fragment) {
    WriteSet writes;
    writes.merge(key, fragment);
    return writes;
  }

  PartitionRecordTables tables_;
  RowCache cache_{1 << 20, tables_, 1};
  const Bytes key_ = row_key("p", "c"), other_ = row_key("q", "c");
};

TEST_F(RowCacheTest, FindsWhatWasFilled) {
  EXPECT_EQ(cached(key_), "unknown");
  fill(key_, "value");
  fill(other_, std::nullopt);
  EXPECT_EQ(cached(key_), "value");
  EXPECT_EQ(cached(other_), "absent");
  const auto statistics = cache_.statistics();
  EXPECT_EQ(statistics.hits, 2u);
  EXPECT_EQ(statistics.misses, 1u);
  EXPECT_EQ(statistics.entries, 2u);
}

TEST_F(RowCacheTest, IgnoresTheCatalogueAndLargeRecords) {
  const Bytes catalogue = row::row_record_key(row::partition_prefix(1, "p"), "c");
  fill(catalogue, "value");
  fill("short", "value");
  fill(key_, Bytes(RowCache::max_record_bytes + 1, 'v'));
  EXPECT_EQ(cached(catalogue), "unknown");
  EXPECT_EQ(cached("short"), "unknown");
  EXPECT_EQ(cached(key_), "unknown");
}

// --- Invariant 1: nothing older than an acknowledged write.

TEST_F(RowCacheTest, RefusesAFillFromBeforeACommit) {
  const auto observed = cache_.observe(key_);
  const WriteSet writes = merge(key_, numbered(1));
  commit(writes);
  cache_.fill(key_, observed, std::nullopt);
  EXPECT_EQ(cached(key_), "unknown");
}

TEST_F(RowCacheTest, RefusesAFillDuringACommit) {
  const auto before = cache_.observe(key_);
  const WriteSet writes = merge(key_, numbered(1));
  begin(writes);
  cache_.fill(key_, before, "old");
  cache_.fill(key_, cache_.observe(key_), "either");
  cache_.finish(true);
  EXPECT_EQ(cached(key_), "unknown");
}

TEST_F(RowCacheTest, ACommitChangesTheEntry) {
  fill(key_, numbered(1));
  commit(merge(key_, numbered(2)));
  Bytes merged;
  row::merge(std::array<BytesView, 2>{numbered(1), numbered(2)}, merged);
  EXPECT_EQ(cached(key_), merged);
  WriteSet writes;
  writes.erase(key_);
  commit(writes);
  EXPECT_EQ(cached(key_), "absent");
  commit(merge(key_, numbered(3)));
  EXPECT_EQ(cached(key_), numbered(3));
  writes = {};
  writes.put(key_, "put");
  commit(writes);
  EXPECT_EQ(cached(key_), "put");
}

TEST_F(RowCacheTest, AppliesTheOperationsOfAGroupInOrder) {
  fill(key_, numbered(1));
  WriteSet first, second;
  first.erase(key_);
  second.merge(key_, numbered(5));
  cache_.clear();
  cache_.add(first);
  cache_.add(second);
  cache_.begin();
  cache_.finish(true);
  EXPECT_EQ(cached(key_), numbered(5));
}

// If a record is not cached, a write does not know its older fragments.
TEST_F(RowCacheTest, AWriteCreatesNoEntry) {
  commit(merge(key_, numbered(1)));
  EXPECT_EQ(cached(key_), "unknown");
}

// --- Invariant 2: one order for all readers.

TEST_F(RowCacheTest, AnswersNothingWhileACommitIsApplied) {
  fill(key_, numbered(1));
  const auto observed = cache_.observe(key_);
  const WriteSet writes = merge(key_, numbered(2));
  begin(writes);
  Bytes value;
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cache_.find(key_, observed, value), Found::present);
  EXPECT_FALSE(cache_.is_unchanged(observed));
  cache_.finish(true);
  EXPECT_FALSE(cache_.is_unchanged(observed));
}

// --- Invariant 3: no half batch.

TEST_F(RowCacheTest, ARereadDetectsACommitBetweenTwoKeys) {
  fill(key_, numbered(1));
  fill(other_, numbered(1));
  const auto first = cache_.observe(key_), second = cache_.observe(other_);
  Bytes value;
  EXPECT_EQ(cache_.find(key_, first, value), Found::present);
  WriteSet writes;
  writes.merge(key_, numbered(2));
  writes.merge(other_, numbered(2));
  commit(writes);
  EXPECT_EQ(cache_.find(other_, second, value), Found::present);
  EXPECT_FALSE(cache_.is_unchanged(first));
  EXPECT_FALSE(cache_.is_unchanged(second));
}

// --- Invariant 4: a failed write is never visible.

TEST_F(RowCacheTest, AFailedCommitOnlyRemoves) {
  fill(key_, numbered(1));
  commit(merge(key_, numbered(2)), false);
  EXPECT_EQ(cached(key_), "unknown");
  fill(key_, numbered(1));
  EXPECT_EQ(cached(key_), numbered(1));
}

// --- Invariant 5: purges.

TEST_F(RowCacheTest, RemovesPerishableEntries) {
  fill(key_, expiring(1, 100));
  commit(merge(key_, numbered(2)));
  EXPECT_EQ(cached(key_), "unknown");
  fill(key_, numbered(1));
  commit(merge(key_, deletion(2)));
  EXPECT_EQ(cached(key_), "unknown");
}

TEST_F(RowCacheTest, RemovesInsteadOfMergingLargeRecords) {
  fill(key_, numbered(1, 4000));
  commit(merge(key_, numbered(2)));
  EXPECT_EQ(cached(key_), "unknown");
}

TEST_F(RowCacheTest, RemovesARecordThatBecomesTooLarge) {
  fill(key_, numbered(1));
  WriteSet writes;
  writes.put(key_, Bytes(RowCache::max_record_bytes + 1, 'v'));
  commit(writes);
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cache_.statistics().entries, 0u);
}

TEST_F(RowCacheTest, ADeletedPartitionInvalidatesItsRows) {
  const Bytes partition = partition_key("p");
  fill(key_, numbered(1));
  fill(other_, numbered(1));
  const auto observed = cache_.observe(key_);
  const WriteSet writes = merge(partition, deletion(2));
  begin(writes);
  EXPECT_EQ(cached(key_), "unknown");
  cache_.finish(true);
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cached(other_), numbered(1));
  cache_.fill(key_, observed, numbered(1));
  EXPECT_EQ(cached(key_), "unknown");
}

// Static cells do not affect the rows.
TEST_F(RowCacheTest, AStaticRowKeepsTheRows) {
  fill(key_, numbered(1));
  commit(merge(partition_key("p"), expiring(2, 100)));
  EXPECT_EQ(cached(key_), numbered(1));
}

TEST_F(RowCacheTest, DoesNotFillADeletedPartition) {
  const Bytes partition = partition_key("p");
  fill_all({partition, key_}, {deletion(2), numbered(1)});
  EXPECT_EQ(cached(partition), "unknown");
  EXPECT_EQ(cached(key_), "unknown");
  fill_all({partition, key_, partition_key("q"), other_}, {range_flag(), numbered(1), {}, numbered(2)});
  EXPECT_EQ(cached(partition), "unknown");
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cached(partition_key("q")), "absent");
  EXPECT_EQ(cached(other_), numbered(2));
}

// The partition may be deleted, which a read of a row alone cannot know.
TEST_F(RowCacheTest, DoesNotFillARowWithoutItsPartitionRecord) {
  fill_all({key_}, {numbered(1)});
  EXPECT_EQ(cached(key_), "unknown");
  fill_all({partition_key("q"), key_}, {{}, numbered(1)});
  EXPECT_EQ(cached(key_), "unknown");
  fill_all({partition_key("p"), key_}, {{}, numbered(1)});
  EXPECT_EQ(cached(key_), numbered(1));
}

// --- Invariant 6: TRUNCATE and DROP.

TEST_F(RowCacheTest, ErasedRangesInvalidateTheirTables) {
  const Bytes of_other_table = row_key("p", "c", test_table + 1);
  fill(key_, numbered(1));
  fill(of_other_table, numbered(1));
  const auto before = cache_.observe(key_);
  WriteSet writes;
  writes.erase_range(row::table_begin(test_table), row::table_begin(test_table) + "x");
  begin(writes);
  EXPECT_EQ(cached(key_), "unknown");
  cache_.fill(key_, before, numbered(1));
  cache_.fill(key_, cache_.observe(key_), numbered(1));
  cache_.finish(true);
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cached(of_other_table), numbered(1));
  fill(key_, numbered(2));
  EXPECT_EQ(cached(key_), numbered(2));
  writes = {};
  writes.erase_range({}, Bytes(4, '\xff'));
  commit(writes);
  EXPECT_EQ(cached(key_), "unknown");
  EXPECT_EQ(cached(of_other_table), "unknown");
}

// --- Invariant 8: memory.

TEST(RowCacheMemory, StaysWithinItsLimit) {
  constexpr uint64_t limit = 8 << 20;
  const PartitionRecordTables tables;
  RowCache cache(limit, tables);
  const size_t before = mallinfo2().uordblks;
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const Bytes key = row_key(std::to_string(random() % 50'000), "c");
    const Bytes value(random() % 4 == 0 ? random() % (64 << 10) : random() % 256, 'v');
    cache.fill(key, cache.observe(key), value);
    ASSERT_LE(cache.statistics().bytes, limit);
  }
  const auto statistics = cache.statistics();
  EXPECT_GT(statistics.bytes, limit / 2);
  EXPECT_GT(statistics.evictions, 1000u);
  const size_t after = mallinfo2().uordblks;  // zero under sanitizers
  if (after != 0) {
    EXPECT_LT(after - before, limit + limit / 8);
  }
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
