#include "storage/rocksdb/space/reclaimer.h"

#include "storage/rocksdb/space/space_test.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr uint32_t kept_table = 1100, erased_table = 1101;
constexpr int records = 500;
constexpr uint64_t table_bytes = records * test_record_bytes;

class ReclaimerTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.automatic_compaction = false;
    options_.write_buffer_bytes = 2 << 20;
    open();
    for (int i = 0; i < records; ++i) {
      ASSERT_TRUE(write_record(*store_, kept_table, i).has_value());
      ASSERT_TRUE(write_record(*store_, erased_table, i).has_value());
    }
    ASSERT_TRUE(store_->flush().has_value());
    ASSERT_GT(file_bytes(*store_), 2 * table_bytes);
  }
  void open() {
    store_.reset();
    store_ = opened(directory_.path(), options_);
    ASSERT_NE(store_, nullptr);
    set_tables(*store_, {kept_table, erased_table});
  }
  bool is_freed() {
    return becomes_true([this] { return file_bytes(*store_) < table_bytes * 5 / 4; });
  }
  void expect(uint32_t table, int first, int last, bool there) {
    Bytes value;
    for (int i = first; i < last; ++i) {
      const auto found = store_->get(test_key(table, i), value);
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(*found, there) << table << ": " << i;
      if (there) {
        ASSERT_EQ(value, test_value(i));
      }
    }
  }

  TemporaryDirectory directory_;
  Options options_;
  std::unique_ptr<Store> store_;
};

TEST_F(ReclaimerTest, FreesADroppedTableInSharedFiles) {
  ASSERT_TRUE(erase_table(*store_, erased_table).has_value());
  set_tables(*store_, {kept_table});
  EXPECT_TRUE(is_freed()) << file_bytes(*store_);
  expect(kept_table, 0, records, true);
  open();
  expect(kept_table, 0, records, true);
}

TEST_F(ReclaimerTest, KeepsWhatIsWrittenAfterTruncate) {
  ASSERT_TRUE(store_->compact({}, {}).has_value());
  ASSERT_TRUE(erase_table(*store_, erased_table).has_value());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(write_record(*store_, erased_table, records / 2 + i).has_value());
  ASSERT_TRUE(store_->flush().has_value());
  ASSERT_TRUE(store_->compact(row::table_begin(erased_table), row::table_end(erased_table)).has_value());
  EXPECT_TRUE(is_freed()) << file_bytes(*store_);
  expect(kept_table, 0, records, true);
  expect(erased_table, 0, records / 2, false);
  expect(erased_table, records / 2, records / 2 + 50, true);
  open();
  expect(erased_table, records / 2, records / 2 + 50, true);
}

// The erasure is in a file and not in the log any more.
TEST_F(ReclaimerTest, IsResumedWhenTheStoreIsOpened) {
  ASSERT_TRUE(erase_table(*store_, erased_table).has_value());
  ASSERT_TRUE(write_record(*store_, erased_table, records).has_value());
  open();
  ASSERT_GT(file_bytes(*store_), 2 * table_bytes) << "freed before the store was closed";
  EXPECT_TRUE(is_freed()) << file_bytes(*store_);
  expect(kept_table, 0, records, true);
  expect(erased_table, 0, records, false);
  expect(erased_table, records, records + 1, true);
}

TEST_F(ReclaimerTest, FreesATableThatWasDroppedBeforeTheStoreWasOpened) {
  ASSERT_TRUE(erase_table(*store_, erased_table).has_value());
  store_.reset();
  store_ = opened(directory_.path(), options_);
  ASSERT_NE(store_, nullptr);
  set_tables(*store_, {kept_table});
  EXPECT_TRUE(is_freed()) << file_bytes(*store_);
  expect(kept_table, 0, records, true);
}

// The policy is older than the table. A policy with the table follows, and the table must still exist.
TEST_F(ReclaimerTest, KeepsTablesThatThePolicyCannotKnow) {
  store_.reset();
  store_ = opened(directory_.path(), options_);
  ASSERT_NE(store_, nullptr);
  auto policy = std::make_shared<PurgePolicy>();
  policy->tables.insert_or_assign(kept_table, {});
  policy->next_table_id = erased_table;
  store_->set_purge_policy(policy);
  ASSERT_TRUE(erase_table(*store_, kept_table).has_value());
  EXPECT_TRUE(is_freed()) << "the search for dropped tables has not run";
  expect(erased_table, 0, records, true);
  ASSERT_TRUE(store_->compact({}, {}).has_value());
  expect(erased_table, 0, records, true);
}

TEST_F(ReclaimerTest, WaitsForReadersThatSeeTheTable) {
  const auto count = [](const Snapshot& snapshot) {
    const auto found = snapshot.iterate(row::table_begin(erased_table), row::table_end(erased_table));
    int records_seen = 0;
    for (found->seek_to_first(); found->valid(); found->next()) ++records_seen;
    EXPECT_TRUE(found->status().has_value());
    return records_seen;
  };
  auto snapshot = store_->snapshot();
  ASSERT_TRUE(erase_table(*store_, erased_table).has_value());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < until) ASSERT_EQ(count(*snapshot), records);
  snapshot.reset();
  EXPECT_TRUE(is_freed()) << file_bytes(*store_);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
