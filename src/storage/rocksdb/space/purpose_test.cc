#include "storage/rocksdb/space/purpose.h"

#include <gtest/gtest.h>

#include "row/fragment.h"
#include "row/record_key.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr uint32_t users_table = PurgePolicy::first_table_id;

Bytes key_in(uint32_t table) {
  return row::row_record_key(row::partition_prefix(table, 1, "p"), "c");
}

Bytes encoded(row::Fragment fragment) {
  Bytes bytes;
  row::encode(fragment, bytes);
  return bytes;
}

Bytes tombstones() {
  row::Fragment fragment;
  fragment.deletion = {.timestamp = 5, .local_seconds = 1};
  fragment.cells.push_back(
      {.column = 1, .kind = row::CellKind::tombstone, .timestamp = 6, .expires_seconds = 1});
  return encoded(std::move(fragment));
}

Bytes row_of_one_cell() {
  row::Fragment fragment;
  fragment.cells.push_back({.column = 1, .timestamp = 6, .value = "v"});
  return encoded(std::move(fragment));
}

TEST(Purpose, OfTombstonesAloneIsDeletion) {
  WriteSet writes;
  writes.merge(key_in(users_table), tombstones());
  EXPECT_EQ(purpose_of(writes), Purpose::deletion);
  writes.merge(key_in(users_table + 1), row_of_one_cell());
  EXPECT_EQ(purpose_of(writes), Purpose::ordinary);
}

TEST(Purpose, OfARowMarkerIsOrdinary) {
  row::Fragment fragment;
  fragment.marker = {.timestamp = 5};
  WriteSet writes;
  writes.merge(key_in(users_table), encoded(std::move(fragment)));
  EXPECT_EQ(purpose_of(writes), Purpose::ordinary);
}

TEST(Purpose, OfAnErasedRangeIsDefinition) {
  WriteSet writes;
  writes.merge(key_in(users_table), row_of_one_cell());
  writes.erase_range(row::table_begin(users_table), row::table_end(users_table));
  EXPECT_EQ(purpose_of(writes), Purpose::definition);
}

// The progress of an index build is stored in the catalogue too.
TEST(Purpose, OfTheCatalogueAloneIsDefinition) {
  WriteSet writes;
  writes.put(row::table_begin(row::catalogue_table_id) + "h", "header");
  EXPECT_EQ(purpose_of(writes), Purpose::definition);
  writes.merge(key_in(users_table), row_of_one_cell());
  EXPECT_EQ(purpose_of(writes), Purpose::ordinary);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
