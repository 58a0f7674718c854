#include "engine/key_names.h"

#include <gtest/gtest.h>

#include "row/record_key.h"
#include "types/keys/key.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using base::Bytes;

schema::SnapshotPtr films() {
  auto table = std::make_shared<schema::Table>();
  table->keyspace = "films";
  table->name = "ratings";
  table->storage_id = 1024;
  table->partition_key_count = 2;
  for (const auto& [name, kind] :
       {std::pair("title", types::Kind::text), std::pair("year", types::Kind::int_)}) {
    schema::Column column;
    column.name = name;
    column.type = types::scalar(kind);
    column.kind = schema::ColumnKind::partition_key;
    table->columns.push_back(column);
  }
  schema::Index index;
  index.name = "by_stars";
  index.storage_id = 1025;
  table->indexes.push_back(index);
  auto keyspace = std::make_shared<schema::Keyspace>();
  keyspace->name = "films";
  keyspace->tables.insert_or_assign("ratings", table);
  auto schema = std::make_shared<schema::Snapshot>();
  schema->keyspaces.insert_or_assign("films", keyspace);
  return schema;
}

TEST(KeyNames, ShowTableTokenAndPartition) {
  const auto schema = films();
  const Bytes title = "Pulp 'Fiction'", year = types::encode_int32(1994);
  const auto serialised = types::serialise_partition_key({title, year});
  const Bytes prefix = row::partition_prefix(1024, -42, serialised);
  EXPECT_EQ(name_of_key(*schema, row::row_record_key(prefix, "")),
            "films.ratings token -42, key 'Pulp ''Fiction''', 1994");
  EXPECT_EQ(name_of_key(*schema, row::partition_record_key(prefix)),
            "films.ratings token -42, key 'Pulp ''Fiction''', 1994");
}

TEST(KeyNames, HideMaskedColumns) {
  const auto schema = films();
  auto table = std::make_shared<schema::Table>(*schema->keyspaces.at("films")->tables.at("ratings"));
  table->columns[0].mask = std::make_shared<schema::ColumnMask>();
  table->has_masks = true;
  auto keyspace = std::make_shared<schema::Keyspace>(*schema->keyspaces.at("films"));
  keyspace->tables.insert_or_assign("ratings", table);
  schema::Snapshot masked = *schema;
  masked.keyspaces.insert_or_assign("films", keyspace);
  const Bytes year = types::encode_int32(1994);
  const Bytes prefix =
      row::partition_prefix(1024, -42, types::serialise_partition_key({"Pulp Fiction", year}));
  EXPECT_EQ(name_of_key(masked, row::partition_record_key(prefix)),
            "films.ratings token ****, key ****, 1994");
  EXPECT_EQ(name_of_key(masked, row::partition_record_key(row::partition_prefix(1024, -42, "broken"))),
            "films.ratings token ****, key ****");
}

TEST(KeyNames, AcceptAnyBytes) {
  const auto schema = films();
  EXPECT_EQ(name_of_key(*schema, ""), "the first record");
  EXPECT_EQ(name_of_key(*schema, row::table_begin(0)), "the catalogue");
  EXPECT_EQ(name_of_key(*schema, row::table_begin(1024)), "films.ratings");
  EXPECT_EQ(name_of_key(*schema, row::table_begin(1025) + "whatever"), "index by_stars of films.ratings");
  EXPECT_EQ(name_of_key(*schema, row::table_begin(4000)), "the dropped table 4000");
}

}  // namespace
}  // namespace sibyl::engine
