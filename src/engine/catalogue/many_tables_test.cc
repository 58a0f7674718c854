// Definitions in a schema of thousands of tables.
#include <gtest/gtest.h>

#include <string>

#include "engine/test_database.h"

namespace sibyl::engine {
namespace {

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
