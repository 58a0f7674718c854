#include "storage/rocksdb/memory_table/tree_table.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <map>
#include <memory>
#include <random>
#include <string>

namespace sibyl::storage::rocksdb {
namespace {

class TreeTableTest : public testing::Test {
 protected:
  TreeTableTest() {
    ::rocksdb::Options options;
    options.create_if_missing = true;
    options.env = environment_.get();
    options.memtable_factory = make_tree_tables();
    options.allow_concurrent_memtable_write = false;
    ::rocksdb::DB* database = nullptr;
    const auto status = ::rocksdb::DB::Open(options, "/database", &database);
    EXPECT_TRUE(status.ok()) << status.ToString();
    database_.reset(database);
  }

  std::unique_ptr<::rocksdb::Env> environment_{::rocksdb::NewMemEnv(::rocksdb::Env::Default())};
  std::unique_ptr<::rocksdb::DB> database_;
};

TEST_F(TreeTableTest, ReadsWhatWasWritten) {
  std::mt19937 random(1);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = std::to_string(random() % 5000);
    if (random() % 4 == 0) {
      ASSERT_TRUE(database_->Delete({}, key).ok());
      expected.erase(key);
    } else {
      ASSERT_TRUE(database_->Put({}, key, std::to_string(i)).ok());
      expected[key] = std::to_string(i);
    }
  }
  for (int i = 0; i < 5000; ++i) {
    std::string value;
    const auto status = database_->Get({}, std::to_string(i), &value);
    const auto found = expected.find(std::to_string(i));
    ASSERT_EQ(status.ok(), found != expected.end());
    if (status.ok()) {
      ASSERT_EQ(value, found->second);
    }
  }
  const std::unique_ptr<::rocksdb::Iterator> iterator(database_->NewIterator({}));
  iterator->SeekToFirst();
  for (auto at = expected.begin(); at != expected.end(); ++at, iterator->Next()) {
    ASSERT_TRUE(iterator->Valid());
    ASSERT_EQ(iterator->key(), at->first);
    ASSERT_EQ(iterator->value(), at->second);
  }
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekToLast();
  for (auto at = expected.rbegin(); at != expected.rend(); ++at, iterator->Prev()) {
    ASSERT_TRUE(iterator->Valid());
    ASSERT_EQ(iterator->key(), at->first);
  }
  EXPECT_FALSE(iterator->Valid());
}

TEST_F(TreeTableTest, ReadsOldVersionsOfSnapshots) {
  ASSERT_TRUE(database_->Put({}, "key", "old").ok());
  ::rocksdb::ReadOptions options;
  options.snapshot = database_->GetSnapshot();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(database_->Put({}, "key", "new").ok());
  std::string value;
  ASSERT_TRUE(database_->Get(options, "key", &value).ok());
  EXPECT_EQ(value, "old");
  ASSERT_TRUE(database_->Get({}, "key", &value).ok());
  EXPECT_EQ(value, "new");
  database_->ReleaseSnapshot(options.snapshot);
}

// RocksDB does not free the table's iterators: it forgets iterators of point reads, and only destroys other
// iterators.
TEST_F(TreeTableTest, ReadsKeepNoMemory) {
  ASSERT_TRUE(database_->Put({}, "key", "value").ok());
  const auto read = [&] {
    std::string value;
    ASSERT_TRUE(database_->Get({}, "key", &value).ok());
    const std::unique_ptr<::rocksdb::Iterator> iterator(database_->NewIterator({}));
    iterator->SeekToFirst();
    ASSERT_TRUE(iterator->Valid());
  };
  read();
  const size_t before = mallinfo2().uordblks;
  constexpr size_t reads = 10'000;
  for (size_t i = 0; i < reads; ++i) read();
  EXPECT_LT(mallinfo2().uordblks, before + reads);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
