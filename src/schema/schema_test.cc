#include "schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sibyl::schema {
namespace {

using types::Kind;
using types::scalar;

Column column(std::string name, Kind kind, ColumnKind place, uint32_t id) {
  return {.name = std::move(name), .type = scalar(kind), .kind = place, .id = id};
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns) out.push_back(column.name);
  return out;
}

Table sample() {
  Table table;
  table.keyspace = "k";
  table.name = "t";
  table.columns = {
      column("z", Kind::int_, ColumnKind::regular, 1), column("p2", Kind::int_, ColumnKind::partition_key, 2),
      column("s", Kind::int_, ColumnKind::static_, 3), column("p1", Kind::text, ColumnKind::partition_key, 4),
      column("a", Kind::int_, ColumnKind::regular, 5), column("c", Kind::int_, ColumnKind::clustering, 9)};
  table.finish();
  return table;
}

TEST(Table, FinishSortsAsSelectStarShowsThem) {
  Table table = sample();
  EXPECT_THAT(names(table), testing::ElementsAre("p2", "p1", "c", "s", "a", "z"));
  EXPECT_EQ(table.partition_key_count, 2u);
  EXPECT_EQ(table.clustering_count, 1u);
  EXPECT_EQ(table.static_count, 1u);
  EXPECT_TRUE(table.has_static());
  EXPECT_EQ(table.partition_key(1).name, "p1");
  EXPECT_EQ(table.partition_key(1).position, 1);
  EXPECT_EQ(table.clustering(0).name, "c");
  EXPECT_EQ(table.clustering(0).position, 0);
  EXPECT_EQ(table.find("z")->position, -1);
  EXPECT_EQ(table.next_column_id, 10u);
  EXPECT_FALSE(table.is_counter);
}

TEST(Table, FindsByNameAndId) {
  Table table = sample();
  ASSERT_NE(table.find("s"), nullptr);
  EXPECT_EQ(table.find("s")->id, 3u);
  EXPECT_EQ(table.find("S"), nullptr);
  ASSERT_NE(table.find_by_id(9), nullptr);
  EXPECT_EQ(table.find_by_id(9)->name, "c");
  EXPECT_EQ(table.find_by_id(10), nullptr);
  EXPECT_EQ(table.index_of(*table.find("a")), 4u);
}

TEST(Table, ACopyMayChangeAndFinishAgain) {
  Table table = sample();
  Table changed = table;
  std::erase_if(changed.columns, [](const Column& column) { return column.name == "a"; });
  changed.columns.push_back(column("b", Kind::counter, ColumnKind::regular, changed.next_column_id));
  changed.finish();
  EXPECT_THAT(names(changed), testing::ElementsAre("p2", "p1", "c", "s", "b", "z"));
  EXPECT_EQ(changed.find("a"), nullptr);
  EXPECT_EQ(changed.find_by_id(10)->name, "b");
  EXPECT_EQ(changed.next_column_id, 11u);
  EXPECT_TRUE(changed.is_counter);
  EXPECT_NE(table.find("a"), nullptr);
}

TEST(Snapshot, FindsKeyspacesAndTables) {
  auto keyspace = std::make_shared<Keyspace>();
  keyspace->name = "k";
  keyspace->tables.insert_or_assign("t", std::make_shared<Table>(sample()));
  keyspace->types.insert_or_assign(
      "u", std::make_shared<UserType>(UserType{"k", "u", {"f"}, {scalar(Kind::int_)}}));
  Snapshot snapshot;
  snapshot.keyspaces.insert_or_assign("k", keyspace);
  EXPECT_EQ(snapshot.find_keyspace("k"), keyspace);
  EXPECT_EQ(snapshot.find_keyspace("K"), nullptr);
  EXPECT_EQ(snapshot.find_table("k", "t"), keyspace->tables.at("t"));
  EXPECT_EQ(snapshot.find_table("k", "u"), nullptr);
  EXPECT_EQ(snapshot.find_table("j", "t"), nullptr);
  TypePtr type = keyspace->find_type("u")->as_type(true);
  EXPECT_EQ(type->kind(), Kind::udt);
  EXPECT_TRUE(type->is_frozen());
  EXPECT_EQ(type->field_index("f"), 0);
}

TablePtr view_over(const std::string& base, const std::string& name) {
  auto view = std::make_shared<Table>();
  view->name = name;
  view->view = std::make_shared<ViewDefinition>(ViewDefinition{.base_table = base});
  return view;
}

TEST(Keyspace, ViewsAreKnownToTheirBase) {
  Keyspace keyspace;
  auto base = std::make_shared<Table>();
  base->name = "t";
  keyspace.tables.insert_or_assign("t", base);
  keyspace.put_view(view_over("t", "w"));
  keyspace.put_view(view_over("t", "v"));
  TablePtr changed = view_over("t", "w");
  keyspace.put_view(changed);
  ASSERT_EQ(keyspace.find_table("t")->views.size(), 2u);
  EXPECT_EQ(keyspace.find_table("t")->views[0]->name, "v");
  EXPECT_EQ(keyspace.find_table("t")->views[1], changed);
  EXPECT_EQ(keyspace.find_table("w"), changed);
  EXPECT_TRUE(base->views.empty()) << "the old table stays as it is";
  keyspace.erase_view("w");
  EXPECT_EQ(keyspace.find_table("w"), nullptr);
  EXPECT_EQ(keyspace.find_table("t")->views.size(), 1u);
}

}  // namespace
}  // namespace sibyl::schema
