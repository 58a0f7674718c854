#include "execute/vector/vector_indexes.h"

#include <gtest/gtest.h>

#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/memory/memory_store.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

class VectorIndexesTest : public testing::Test {
 protected:
  VectorIndexesTest() : store_(storage::memory::make_store()) {
    table_.columns = {
        {.name = "k",
         .type = types::scalar(types::Kind::text),
         .kind = schema::ColumnKind::partition_key,
         .id = 1},
        {.name = "v", .type = types::vector_of(types::scalar(types::Kind::float_), 2), .id = 2}};
    table_.finish();
    index_ = {
        .name = "i", .options = {{"similarity_function", "EUCLIDEAN"}}, .column_id = 2, .storage_id = 1030};
    indexes_.watch({index_.storage_id});
  }

  storage::WriteSet put(const Bytes& row, float x, float y, int64_t expires = 0) const {
    const Bytes value = types::encode_float(x) + types::encode_float(y);
    row::Fragment entry;
    row::Cell& cell = entry.cells.emplace_back();
    cell.column = 2;
    cell.timestamp = 1;
    cell.value = value;
    if (expires != 0) {
      cell.kind = row::CellKind::expiring;
      cell.time_to_live = 10;
      cell.expires_seconds = expires;
    }
    Bytes encoded;
    row::encode(entry, encoded);
    storage::WriteSet writes;
    writes.put(vector_entry_key(index_, row, ""), std::move(encoded));
    return writes;
  }
  storage::WriteSet erase(const Bytes& row) const {
    storage::WriteSet writes;
    writes.erase(vector_entry_key(index_, row, ""));
    return writes;
  }
  void commit(storage::WriteSet writes) {
    auto changes = indexes_.changes_of(writes);
    ASSERT_TRUE(store_->commit(std::move(writes)).has_value());
    indexes_.committed(std::move(changes));
  }
  std::vector<Bytes> nearest(float x, float y, size_t count) {
    const std::vector<float> query = {x, y};
    auto rows = indexes_.nearest(*store_, table_, index_, query, count, 100);
    EXPECT_TRUE(rows.has_value());
    std::vector<Bytes> keys;
    for (const auto& row : *rows) keys.push_back(row.partition_key);
    return keys;
  }

  std::unique_ptr<storage::Store> store_;
  schema::Table table_;
  schema::Index index_;
  VectorIndexes indexes_;
};

TEST_F(VectorIndexesTest, IsLoadedFromTheStoreAndFollowsWrites) {
  commit(put("a", 0, 0));
  commit(put("b", 5, 0));
  commit(put("gone", 0, 0, 99));
  EXPECT_EQ(nearest(1, 0, 5), (std::vector<Bytes>{"a", "b"}));
  commit(put("c", 1, 0));
  commit(put("a", 9, 0));
  EXPECT_EQ(nearest(1, 0, 5), (std::vector<Bytes>{"c", "b", "a"}));
  commit(erase("c"));
  EXPECT_EQ(nearest(1, 0, 1), std::vector<Bytes>{"b"});
}

TEST_F(VectorIndexesTest, AWriteInFlightDuringLoadingIsNotLost) {
  commit(put("a", 0, 0));
  storage::WriteSet late = put("late", 1, 1);
  auto changes = indexes_.changes_of(late);
  EXPECT_EQ(nearest(1, 1, 5), std::vector<Bytes>{"a"});
  ASSERT_TRUE(store_->commit(std::move(late)).has_value());
  indexes_.committed(std::move(changes));
  EXPECT_EQ(nearest(1, 1, 5), (std::vector<Bytes>{"late", "a"}));
}

TEST_F(VectorIndexesTest, TruncationEmptiesIt) {
  commit(put("a", 0, 0));
  EXPECT_EQ(nearest(0, 0, 5).size(), 1u);
  storage::WriteSet writes;
  writes.erase_range(row::table_begin(1030), row::table_end(1030));
  commit(std::move(writes));
  EXPECT_TRUE(nearest(0, 0, 5).empty());
  commit(put("b", 0, 0));
  EXPECT_EQ(nearest(0, 0, 5), std::vector<Bytes>{"b"});
}

}  // namespace
}  // namespace sibyl::execute
