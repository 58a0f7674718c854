#include "engine/catalogue/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/describe/text.h"
#include "engine/test_schema.h"
#include "row/record_key.h"
#include "storage/memory/memory_store.h"

namespace sibyl::engine {
namespace {

std::vector<uint32_t> none;

Catalogue load(storage::Store& store) {
  auto catalogue = Catalogue::load(store);
  EXPECT_TRUE(catalogue.has_value()) << catalogue.error().message();
  return std::move(*catalogue);
}

schema::SnapshotPtr three_tables(schema::SnapshotPtr schema) {
  for (const char* text :
       {"CREATE KEYSPACE a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE KEYSPACE b WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TYPE a.u (x int, y frozen<list<text>>)",
        "CREATE TABLE a.t (k int, c text, v u, s int static, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c "
        "DESC)",
        "CREATE TABLE a.n (k text PRIMARY KEY, n counter)", "CREATE TABLE b.t (k int PRIMARY KEY, v int)"})
    schema = define(schema, text);
  return schema;
}

std::string text_of(const schema::Snapshot& schema) {
  std::string out;
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_system) continue;
    out += describe_keyspace(*keyspace) + "\n";
    for (const auto& [type_name, type] : keyspace->types) out += describe_type(*type) + "\n";
    for (const auto& [table_name, table] : keyspace->tables)
      out += describe_table(*table, false, true) + std::to_string(table->storage_id) + "\n";
  }
  return out;
}

TEST(Catalogue, IsCreatedOnceAndKeepsItsIdentity) {
  auto store = storage::memory::make_store();
  Catalogue first = load(*store);
  EXPECT_EQ(first.host_id().size(), 16u);
  EXPECT_EQ(first.schema()->version.size(), 16u);
  EXPECT_NE(first.schema()->find_table("system", "local"), nullptr);
  Catalogue second = load(*store);
  EXPECT_EQ(second.host_id(), first.host_id());
  EXPECT_EQ(second.schema()->version, first.schema()->version);
}

TEST(Catalogue, LoadsTheWrittenSchema) {
  auto store = storage::memory::make_store();
  Catalogue catalogue = load(*store);
  base::Bytes version = catalogue.schema()->version;
  ASSERT_TRUE(catalogue.change(*three_tables(catalogue.schema()), none).has_value());
  EXPECT_NE(catalogue.schema()->version, version);

  Catalogue again = load(*store);
  EXPECT_EQ(text_of(*again.schema()), text_of(*catalogue.schema()));
  EXPECT_EQ(again.schema()->version, catalogue.schema()->version);
  EXPECT_EQ(again.schema()->next_storage_id, catalogue.schema()->next_storage_id);
  EXPECT_GE(again.schema()->next_storage_id, 1027u);
  EXPECT_EQ(again.schema()->find_table("a", "t")->find("v")->type->cql_name(), "u");
}

TEST(Catalogue, ChangesAndDropsSurvive) {
  auto store = storage::memory::make_store();
  Catalogue catalogue = load(*store);
  schema::SnapshotPtr schema = three_tables(catalogue.schema());
  ASSERT_TRUE(catalogue.change(*schema, none).has_value());
  schema = define(catalogue.schema(), "ALTER TABLE a.t ADD w int");
  schema = define(schema, "ALTER KEYSPACE b WITH durable_writes = false");
  schema = define(schema, "DROP TABLE a.n");
  ASSERT_TRUE(catalogue.change(*schema, none).has_value());
  Catalogue again = load(*store);
  EXPECT_EQ(text_of(*again.schema()), text_of(*catalogue.schema()));
  EXPECT_EQ(again.schema()->find_table("a", "n"), nullptr);
  EXPECT_FALSE(again.schema()->find_keyspace("b")->durable_writes);

  ASSERT_TRUE(catalogue.change(*define(catalogue.schema(), "DROP KEYSPACE a"), none).has_value());
  EXPECT_EQ(text_of(*load(*store).schema()), text_of(*catalogue.schema()));
  EXPECT_EQ(load(*store).schema()->find_keyspace("a"), nullptr);
}

TEST(Catalogue, DroppedTablesLoseTheirRecords) {
  auto store = storage::memory::make_store();
  Catalogue catalogue = load(*store);
  storage::WriteSet writes;
  base::Bytes gone = row::table_begin(2000) + "x", kept = row::table_begin(2001) + "x";
  writes.put(gone, "1");
  writes.put(kept, "1");
  ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  ASSERT_TRUE(catalogue.change(*three_tables(catalogue.schema()), {2000}).has_value());
  base::Bytes value;
  EXPECT_FALSE(*store->get(gone, value));
  EXPECT_TRUE(*store->get(kept, value));
}

TEST(Catalogue, AFailedCommitChangesNothing) {
  bool fail = false;
  auto store = storage::memory::make_store({.fail_commit = [&](uint64_t) { return fail; }});
  Catalogue catalogue = load(*store);
  schema::SnapshotPtr before = catalogue.schema();
  fail = true;
  EXPECT_FALSE(catalogue.change(*three_tables(before), none).has_value());
  EXPECT_EQ(catalogue.schema(), before);
  fail = false;
  EXPECT_EQ(load(*store).schema()->find_keyspace("a"), nullptr);
}

TEST(Catalogue, RejectsAStoreThatIsNotOurs) {
  auto store = storage::memory::make_store();
  storage::WriteSet writes;
  writes.put("somebody else's", "data");
  ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  auto catalogue = Catalogue::load(*store);
  ASSERT_FALSE(catalogue.has_value());
  EXPECT_THAT(catalogue.error().message(), testing::HasSubstr("not written by Sibyl"));
}

TEST(Catalogue, RefusesADamagedRecord) {
  auto store = storage::memory::make_store();
  Catalogue catalogue = load(*store);
  ASSERT_TRUE(catalogue.change(*three_tables(catalogue.schema()), none).has_value());
  auto records = store->iterate(row::table_begin(0), row::table_end(0));
  records->seek_to_last();
  storage::WriteSet writes;
  writes.put(base::Bytes(records->key()), "{}");
  ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  auto again = Catalogue::load(*store);
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message(), testing::HasSubstr("catalogue cannot be read"));
}

}  // namespace
}  // namespace sibyl::engine
