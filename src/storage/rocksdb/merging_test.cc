#include "storage/rocksdb/merging.h"

#include <gtest/gtest.h>

#include "base/memory.h"
#include "base/statement.h"
#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

const Bytes key = row::row_record_key(row::partition_prefix(1024, "k"), "c");

Bytes fragment_of(uint32_t column, size_t bytes) {
  const Bytes value(bytes, 'v');
  row::Fragment fragment;
  row::Cell& cell = fragment.cells.emplace_back();
  cell.column = column;
  cell.timestamp = 1;
  cell.value = value;
  Bytes out;
  row::encode(fragment, out);
  return out;
}

// A record of about 4 MB in two fragments, and a small one after it.
class LargeMerge : public ::testing::Test {
 protected:
  LargeMerge() : store_(opened(directory_.path(), {.write_buffer_bytes = 64 << 20})) {
    for (const uint32_t column : {1, 2}) {
      WriteSet writes;
      writes.merge(key, fragment_of(column, 2 << 20));
      EXPECT_TRUE(store_->commit(std::move(writes)).has_value());
    }
    WriteSet small;
    small.merge(row::row_record_key(row::partition_prefix(1024, "k"), "d"), fragment_of(1, 10));
    EXPECT_TRUE(store_->commit(std::move(small)).has_value());
  }
  void TearDown() override { base::set_memory_limits({}); }

  std::string get_large() const {
    const std::string found = get(*store_, key);
    return found.starts_with("error") ? found : std::to_string(found.size() >> 20) + " MiB";
  }
  std::string iterate() const {
    const auto records = store_->iterate({}, {});
    size_t count = 0;
    for (records->seek_to_first(); records->valid(); records->next()) ++count;
    const base::Status status = records->status();
    return status ? std::to_string(count) + " records" : "error: " + status.error().message();
  }

  base::TemporaryDirectory directory_;
  const std::unique_ptr<Store> store_;
};

constexpr const char* refusal = "error: The statement needs more than 3 MiB of memory";

TEST_F(LargeMerge, IsRefusedIfTheStatementMustNotHaveItsMemory) {
  base::set_memory_limits({.statement_bytes = 3 << 20});
  {
    const base::StatementScope scope(nullptr);
    EXPECT_EQ(get_large(), refusal);
    EXPECT_EQ(iterate(), refusal);
    const std::vector<Bytes> keys = {row::row_record_key(row::partition_prefix(1024, "k"), "d"), key};
    std::vector<std::optional<Bytes>> values(keys.size());
    const auto many = store_->get_many(keys, values);
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().code(), base::ErrorCode::invalid);
    EXPECT_FALSE(take_refused_merge()) << "left for the next read";
  }
  // Outside of statements nothing is refused, and the earlier refusals have damaged nothing.
  EXPECT_EQ(get_large(), "4 MiB");
  EXPECT_EQ(iterate(), "2 records");
  EXPECT_EQ(store_->statistics().damage_met, 0u);
  ASSERT_TRUE(store_->flush().has_value());
  EXPECT_EQ(get_large(), "4 MiB");
}

TEST_F(LargeMerge, SucceedsWithinTheLimit) {
  base::set_memory_limits({.statement_bytes = 32 << 20});
  const base::StatementScope scope(nullptr);
  EXPECT_EQ(get_large(), "4 MiB");
  EXPECT_EQ(iterate(), "2 records");
}

TEST_F(LargeMerge, RespectsTheLimitOfItsThread) {
  {
    const MergeLimit limit(1 << 20);
    EXPECT_EQ(get_large(), "error: The record is too large to be merged now");
  }
  EXPECT_EQ(get_large(), "4 MiB");
}

// The committer merges the fragments of records that are written often. It must not merge those of large
// records, because other writes would wait.
TEST_F(LargeMerge, IsNotRepeatedByTheCommitter) {
  for (int i = 0; i < 500; ++i) {
    WriteSet writes;
    writes.merge(key, fragment_of(3, 10));
    ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
  }
  // A merge would have added a copy of the record to the memory table.
  EXPECT_GT(store_->statistics().memtable_bytes, 4u << 20);
  EXPECT_LT(store_->statistics().memtable_bytes, 7u << 20);
  EXPECT_EQ(get_large(), "4 MiB");
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
