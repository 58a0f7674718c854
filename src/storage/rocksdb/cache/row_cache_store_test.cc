// The row cache in a store: concurrent readers and writers, failing disks, and purges. Numbers in the
// comments refer to these invariants: a read that starts after an acknowledgement sees the write (1), readers
// agree on one order (2), no reader sees half a batch (3) or a failed write (4), the cache equals the store
// after purges (5) and TRUNCATE (6).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "storage/rocksdb/cache/test_rows.h"
#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr int rows = 8;
constexpr int writes_per_row = 4000;

Bytes key_of(int row) {
  return row_key("p" + std::to_string(row), "c");
}
std::vector<Bytes> read_keys(int row) {
  return {partition_key("p" + std::to_string(row)), key_of(row)};
}

class RowCacheStore : public testing::Test {
 protected:
  void open() { open(directory_.path()); }
  void open(const std::string& path, Durability durability = Durability::periodic) {
    Options options;
    options.durability = durability;
    options.clock = &clock_;
    options.log_disk = &disk_;
    options.row_cache_bytes = 1 << 20;
    options.automatic_compaction = false;
    options.write_buffer_bytes = 256 << 10;  // many flushes
    store_ = opened(path, options);
    ASSERT_NE(store_, nullptr);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (store_->may_have_partition_records(test_table) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    ASSERT_FALSE(store_->may_have_partition_records(test_table));
  }
  base::Status write(int row, int64_t number) {
    WriteSet writes;
    writes.merge(key_of(row), numbered(number));
    return store_->commit(std::move(writes));
  }
  int64_t read(int row) {
    Bytes value;
    const auto found = store_->get(key_of(row), value);
    if (!found) return -2;
    return *found ? number_in(value) : 0;
  }
  int64_t read_with_partition(int row) {
    const std::vector<Bytes> keys = read_keys(row);
    std::vector<std::optional<Bytes>> values(keys.size());
    if (!store_->get_many(keys, values)) return -2;
    return values[1] ? number_in(*values[1]) : 0;
  }
  int64_t scan(int row) {
    const Bytes key = key_of(row);
    const auto iterator = store_->iterate(key, key + '\0');
    iterator->seek_to_first();
    return iterator->valid() ? number_in(iterator->value()) : 0;
  }
  void expect_hits() {
    const StoreStatistics statistics = store_->statistics();
    EXPECT_GT(statistics.row_cache_hits, 1000u);
    EXPECT_GT(statistics.row_cache_misses, 0u);
  }

  TemporaryDirectory directory_;
  FaultyDisk disk_;
  base::ManualClock clock_{int64_t{1'000'000} * 1'000'000};
  std::unique_ptr<Store> store_;
};

// Tests 1 and 2: two readers alternate between all ways to read. Values never go back, and are never older
// than the last one acknowledged before the read.
TEST_F(RowCacheStore, ReadersSeeAcknowledgedWritesInOneOrder) {
  open();
  std::array<std::atomic<int64_t>, rows> acknowledged{};
  std::atomic<bool> done = false;
  std::atomic<int> stale = 0, backwards = 0, failed = 0;
  const auto reader = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::array<int64_t, rows> seen{};
    for (unsigned turn = 0; !done; ++turn) {
      const int row = static_cast<int>(random() % rows);
      const int64_t before = acknowledged[static_cast<size_t>(row)];
      const int64_t number = turn % 3 == 0 ? read(row) : turn % 3 == 1 ? read_with_partition(row) : scan(row);
      failed += number < 0;
      stale += number < before;
      backwards += number < seen[static_cast<size_t>(row)];
      seen[static_cast<size_t>(row)] = std::max(seen[static_cast<size_t>(row)], number);
    }
  };
  std::vector<std::thread> readers;
  for (unsigned seed = 1; seed <= 2; ++seed) readers.emplace_back(reader, seed);
  for (int64_t number = 1; number <= writes_per_row; ++number) {
    for (int row = 0; row < rows; ++row) {
      if (!write(row, number)) ++failed;
      acknowledged[static_cast<size_t>(row)] = number;
    }
  }
  done = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(stale, 0);
  EXPECT_EQ(backwards, 0);
  expect_hits();
}

// Tests 3: every batch writes one number to all rows.
TEST_F(RowCacheStore, NoReaderSeesHalfABatch) {
  open();
  std::vector<Bytes> keys;
  for (int row = 0; row < rows; ++row) keys.push_back(key_of(row));
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      std::vector<std::optional<Bytes>> values(keys.size());
      while (!done) {
        if (!store_->get_many(keys, values)) ++torn;
        for (const auto& value : values) torn += value != values.front();
      }
    });
  for (int64_t number = 1; number <= writes_per_row; ++number) {
    WriteSet writes;
    for (const Bytes& key : keys) writes.merge(key, numbered(number));
    ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
  }
  done = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(torn, 0);
  expect_hits();
}

// Tests 4: the log fails at random. Failed writes have odd numbers.
TEST_F(RowCacheStore, FailedWritesAreNeverVisible) {
  open(directory_.path(), Durability::synced);
  std::atomic<bool> done = false;
  std::atomic<int> odd = 0;
  std::thread reader([&] {
    while (!done)
      for (int row = 0; row < rows; ++row) odd += read(row) % 2 != 0;
  });
  std::mt19937 random(1);
  int failures = 0;
  for (int64_t number = 2; number <= 1000; number += 2) {
    const int row = static_cast<int>(random() % rows);
    const bool fails = random() % 4 == 0;
    disk_.fail_all = fails;
    const bool succeeded = write(row, fails ? number - 1 : number).has_value();
    disk_.fail_all = false;
    ASSERT_EQ(succeeded, !fails);
    failures += fails;
    EXPECT_EQ(read(row) % 2, 0);
    EXPECT_EQ(read(row), scan(row));
  }
  done = true;
  reader.join();
  EXPECT_EQ(odd, 0);
  EXPECT_GT(failures, 50);
  expect_hits();
}

// Tests 6: each round writes larger numbers than the round before and ends with a truncation.
TEST_F(RowCacheStore, TruncatedRowsStayAway) {
  open();
  std::atomic<int64_t> truncated = 0;
  std::atomic<bool> done = false;
  std::atomic<int> resurrected = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&, i] {
      while (!done)
        for (int row = 0; row < rows; ++row) {
          const int64_t before = truncated;
          const int64_t number = i == 0 ? read(row) : read_with_partition(row);
          resurrected += number != 0 && number <= before;
        }
    });
  int64_t number = 0;
  for (int round = 0; round < 500; ++round) {
    for (int row = 0; row < rows; ++row) ASSERT_TRUE(write(row, ++number).has_value());
    for (int row = 0; row < rows; ++row) EXPECT_EQ(read(row), number - rows + row + 1);
    WriteSet writes;
    writes.erase_range(row::table_begin(test_table), row::table_end(test_table));
    ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
    truncated = number;
    for (int row = 0; row < rows; ++row) EXPECT_EQ(read_with_partition(row), 0);
  }
  done = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(resurrected, 0);
  expect_hits();
}

// --- 5: purges. RowCachePurges in rocksdb_store_test.cc tries random orders of events.

// Produces the order of events with which a cache without rules 1 and 2 fails (row_cache.h).
class PurgedThenRead : public RowCacheStore {
 protected:
  void SetUp() override {
    open();
    store_->set_purge_policy(purge_policy());
  }
  void commit(const Bytes& key, const Bytes& fragment) {
    WriteSet writes;
    writes.merge(key, fragment);
    ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
  }
  // Purges. Afterwards the store has no deletions any more.
  void purge() {
    clock_.set_micros(clock_.now_micros() + 100 * 1'000'000);
    for (int pass = 0; pass < 2; ++pass) {
      ASSERT_TRUE(store_->flush().has_value());
      ASSERT_TRUE(store_->compact({}, {}).has_value());
    }
  }
  // Returns the number that a point read sees in the row.
  int64_t visible() {
    const std::vector<Bytes> keys = read_keys(1);
    std::vector<std::optional<Bytes>> values(keys.size());
    if (!store_->get_many(keys, values)) return -2;
    row::Fragment partition, row;
    if (values[0] && !row::decode(*values[0], partition)) return -2;
    if (!values[1]) return 0;
    if (!row::decode(*values[1], row)) return -2;
    if (!row::visible_at(row, partition.deletion, clock_.now_micros() / 1'000'000)) return 0;
    return std::stoll(std::string(row.cells.at(0).value));
  }
};

TEST_F(PurgedThenRead, AnOlderWriteAfterAPurgedRowDeletionIsVisible) {
  commit(key_of(1), deletion(20));
  EXPECT_EQ(visible(), 0);
  purge();
  EXPECT_EQ(visible(), 0);
  commit(key_of(1), numbered(10));
  EXPECT_EQ(visible(), 10);
}

TEST_F(PurgedThenRead, AnOlderWriteAfterAPurgedPartitionDeletionIsVisible) {
  commit(partition_key("p1"), deletion(20));
  EXPECT_EQ(visible(), 0);
  purge();
  EXPECT_EQ(visible(), 0);
  commit(key_of(1), numbered(10));
  EXPECT_EQ(visible(), 10);
}

// The row was cached before its partition was deleted, and another row was read after the deletion.
TEST_F(PurgedThenRead, ARowOfADeletedPartitionStaysDeleted) {
  commit(partition_key("p1"), numbered(1));
  commit(key_of(1), numbered(10));
  EXPECT_EQ(visible(), 10);
  commit(partition_key("p1"), deletion(20));
  EXPECT_EQ(visible(), 0);
  purge();
  // After this read, the cache knows that the partition has no record any more.
  const std::vector<Bytes> keys = {partition_key("p1"), row_key("p1", "other")};
  std::vector<std::optional<Bytes>> values(keys.size());
  ASSERT_TRUE(store_->get_many(keys, values).has_value());
  EXPECT_EQ(visible(), 0);
}

// Like the test above, but the row was read only after the deletion and before the purge.
TEST_F(PurgedThenRead, ARowReadTogetherWithADeletionStaysDeleted) {
  commit(key_of(1), numbered(10));
  commit(partition_key("p1"), deletion(20));
  EXPECT_EQ(visible(), 0);
  purge();
  const std::vector<Bytes> keys = {partition_key("p1"), row_key("p1", "other")};
  std::vector<std::optional<Bytes>> values(keys.size());
  ASSERT_TRUE(store_->get_many(keys, values).has_value());
  EXPECT_EQ(visible(), 0);
}

// --- Tables without partition records

TEST_F(RowCacheStore, KnowsTablesWithoutPartitionRecords) {
  open();
  ASSERT_TRUE(write(1, 1).has_value());
  EXPECT_FALSE(store_->may_have_partition_records(test_table));
  WriteSet writes;
  writes.merge(partition_key("p1"), deletion(5));
  ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
  EXPECT_TRUE(store_->may_have_partition_records(test_table));
  EXPECT_FALSE(store_->may_have_partition_records(test_table + 1));
}

// The record is first in the log of a server that was killed, then in a file.
TEST_F(RowCacheStore, FindsPartitionRecordsAfterARestart) {
  open();
  WriteSet writes;
  writes.merge(row_key("p", "c", test_table + 1), numbered(1));
  writes.merge(row::partition_record_key(row::partition_prefix(test_table + 2, "p")), deletion(5));
  ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
  const TemporaryDirectory killed;
  std::filesystem::copy(directory_.path(), killed.path(), std::filesystem::copy_options::recursive);
  for (const std::string& path : {killed.path(), directory_.path()}) {
    store_.reset();  // closing writes everything to files
    open(path);
    EXPECT_FALSE(store_->may_have_partition_records(test_table + 1));
    EXPECT_TRUE(store_->may_have_partition_records(test_table + 2));
  }
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
