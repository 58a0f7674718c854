// Definitions in a schema of thousands of tables.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <string>

#include "engine/test_database.h"

namespace {
thread_local uint64_t allocated_bytes = 0;  // by this thread, whether freed or not
}

// Every copy allocates, so allocated bytes measure the work of a definition without a clock.
void* operator new(size_t size) {
  allocated_bytes += size;
  if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

namespace sibyl::engine {
namespace {

uint64_t bytes_to_create(TestDatabase& database, const std::string& table) {
  const uint64_t before = allocated_bytes;
  database.must("CREATE TABLE " + table + " (k int PRIMARY KEY, a int, b int, c int)");
  database.must("CREATE INDEX ON " + table + " (a)");
  return allocated_bytes - before;
}

// With a copy of any map, list or set of tables, a definition would need 16 times as much.
TEST(ManyTables, ADefinitionCostsTheSameHoweverManyThereAre) {
  TestDatabase database(":memory:");
  uint64_t few = 0, many = 0;
  for (int table = 0; table < 1600; ++table) {
    const uint64_t bytes = bytes_to_create(database, "t" + std::to_string(table));
    if (table >= 90 && table < 100) few += bytes;
    if (table >= 1590) many += bytes;
  }
  RecordProperty("bytes_of_ten_among_100", std::to_string(few));
  RecordProperty("bytes_of_ten_among_1600", std::to_string(many));
  EXPECT_LT(many, few + few / 2);
}

// Rows that were updated after each definition equal the rows of the same schema shown at once.
TEST(ManyTables, SystemRowsFollowEachDefinition) {
  TestDatabase database(":memory:");
  const auto rows = [&](const std::string& what, const std::string& table, const std::string& name) {
    return database.count("SELECT * FROM system_schema." + what + " WHERE keyspace_name = 'e' AND " + name +
                          " = '" + table + "'");
  };
  database.must("CREATE TABLE t (k int PRIMARY KEY, a int, b int)");
  database.must("CREATE TABLE t2 (k int PRIMARY KEY, a int, b int)");
  EXPECT_EQ(rows("columns", "t", "table_name"), 3u);
  database.must("ALTER TABLE t ADD c int");
  EXPECT_EQ(rows("columns", "t", "table_name"), 4u);
  database.must("ALTER TABLE t DROP b");
  EXPECT_EQ(rows("columns", "t", "table_name"), 3u);
  EXPECT_EQ(rows("dropped_columns", "t", "table_name"), 1u);
  database.must("CREATE INDEX i ON t (a)");
  EXPECT_EQ(rows("indexes", "t", "table_name"), 1u);
  database.must("DROP INDEX i");
  EXPECT_EQ(rows("indexes", "t", "table_name"), 0u);
  database.must(
      "CREATE MATERIALIZED VIEW v AS SELECT k, a FROM t WHERE a IS NOT NULL AND k IS NOT NULL "
      "PRIMARY KEY (a, k)");
  EXPECT_EQ(rows("views", "v", "view_name"), 1u);
  EXPECT_EQ(rows("columns", "v", "table_name"), 2u);
  EXPECT_EQ(rows("tables", "t", "table_name"), 1u);
  database.must("DROP MATERIALIZED VIEW v");
  EXPECT_EQ(rows("views", "v", "view_name"), 0u);
  EXPECT_EQ(rows("columns", "v", "table_name"), 0u);
  database.must("CREATE TYPE u (a int)");
  database.must("ALTER TYPE u ADD b int");
  EXPECT_EQ(rows("types", "u", "type_name"), 1u);
  database.must("DROP TYPE u");
  EXPECT_EQ(rows("types", "u", "type_name"), 0u);
  database.must("DROP TABLE t");
  for (const char* what : {"tables", "columns", "dropped_columns"})
    EXPECT_EQ(rows(what, "t", "table_name"), 0u) << what;
  EXPECT_EQ(rows("columns", "t2", "table_name"), 3u) << "others stay";
  database.must("DROP KEYSPACE e");
  EXPECT_EQ(rows("columns", "t2", "table_name"), 0u);
}

}  // namespace
}  // namespace sibyl::engine
