// Running the output of DESCRIBE on an empty database creates the same schema.
#include <gtest/gtest.h>

#include "cql/script.h"
#include "engine/test_result.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;

class Database {
 public:
  Database() {
    auto opened = Engine::open({});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
  }

  base::Result<ResultSet> run(std::string_view text) { return run_text(*engine_, text, ""); }
  void must(std::string_view text) {
    const auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().text());
  }
  void run_script(const std::string& script) {
    for (const cql::ScriptPiece& piece : cql::split_script(script)) must(piece.text);
  }
  // Concatenates the last column of every row.
  std::string describe(std::string_view text) {
    const auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().text());
    if (!result) return "";
    std::string out;
    for (const auto& row : values_of(*result)) out.append(row.back().value()).append("\n\n");
    return out;
  }

 private:
  std::unique_ptr<Engine> engine_;
};

constexpr const char* rich_schema[] = {
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE KEYSPACE \"Mixed\" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} AND "
    "durable_writes = false",
    "CREATE TYPE shop.zip (code text, \"Area\" int)",
    "CREATE TYPE shop.address (street text, z frozen<zip>, tags frozen<set<text>>)",
    "CREATE TYPE \"Mixed\".\"select\" (\"from\" int, \"with \"\"quotes\"\"\" frozen<map<text, int>>)",
    "CREATE TABLE shop.plain (k int PRIMARY KEY)",
    "CREATE TABLE shop.every_type (a ascii PRIMARY KEY, bi bigint, bl blob, bo boolean, da date, de decimal, "
    "db double, du duration, fl float, ine inet, i int, si smallint, tx text, ti time, ts timestamp, tu "
    "timeuuid, "
    "ty tinyint, u uuid, vi varint, l list<int>, s set<text>, m map<text, frozen<list<int>>>, fl2 "
    "frozen<list<frozen<set<int>>>>, t tuple<int, frozen<tuple<text, int>>>, v vector<float, 3>, ad address, "
    "fad "
    "frozen<address>, mm map<int, frozen<address>>)",
    "CREATE TABLE shop.orders (customer int, region text, day date, number int, total decimal, name text "
    "STATIC, "
    "PRIMARY KEY ((customer, region), day, number)) WITH CLUSTERING ORDER BY (day DESC, number ASC) AND "
    "comment = "
    "'it''s' AND compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 64} AND "
    "compression = "
    "{'class': 'ZstdCompressor', 'chunk_length_in_kb': 32} AND caching = {'keys': 'NONE', "
    "'rows_per_partition': "
    "'7'} AND default_time_to_live = 77 AND gc_grace_seconds = 78 AND speculative_retry = 'MIN(99p,50ms)' "
    "AND "
    "read_repair = 'NONE' AND bloom_filter_fp_chance = 0.05 AND crc_check_chance = 0.5 AND "
    "min_index_interval = 64 "
    "AND max_index_interval = 128 AND memtable_flush_period_in_ms = 9 AND additional_write_policy = 'ALWAYS' "
    "AND "
    "allow_auto_snapshot = false AND incremental_backups = false",
    "CREATE TABLE shop.uncompressed (k int PRIMARY KEY, v int) WITH compression = {'enabled': 'false'}",
    "CREATE TABLE shop.counts (k int, c text, n counter, m counter, PRIMARY KEY (k, c))",
    "CREATE TABLE \"Mixed\".\"Table\" (\"Key\" int, \"order\" text, \"with space\" frozen<\"select\">, "
    "PRIMARY KEY "
    "(\"Key\", \"order\"))",
    "CREATE TABLE shop.changed (k int, c int, gone text, stays text, s int STATIC, PRIMARY KEY (k, c))",
    "ALTER TABLE shop.changed DROP gone USING TIMESTAMP 1000",
    "ALTER TABLE shop.changed DROP s USING TIMESTAMP 2000",
    "ALTER TABLE shop.changed ADD later list<frozen<address>>",
    "ALTER TABLE shop.changed RENAME c TO cc",
    "ALTER TYPE shop.address ADD country text",
    "CREATE INDEX ON shop.plain_indexed (v)",
};

std::string again(const std::string& described, const char* statement) {
  Database copy;
  copy.run_script(described);
  return copy.describe(statement);
}

class DescribeRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(DescribeRoundTrip, TheSchemaIsTheSameAgain) {
  Database database;
  database.must(rich_schema[0]);
  database.must("CREATE TABLE shop.plain_indexed (k int PRIMARY KEY, v int, m map<text, int>)");
  for (size_t i = 1; i < std::size(rich_schema); ++i) database.must(rich_schema[i]);
  const std::string described = database.describe(GetParam());
  EXPECT_GT(described.size(), 1000u);
  EXPECT_EQ(again(described, GetParam()), described);
}

INSTANTIATE_TEST_SUITE_P(Forms, DescribeRoundTrip,
                         testing::Values("DESCRIBE SCHEMA", "DESCRIBE SCHEMA WITH INTERNALS",
                                         "DESCRIBE KEYSPACE shop",
                                         "DESCRIBE KEYSPACE \"Mixed\" WITH INTERNALS"),
                         [](const auto& info) { return "Form" + std::to_string(info.index); });

TEST(Describe, EveryElementAlone) {
  Database database;
  database.must(rich_schema[0]);
  database.must("CREATE TABLE shop.plain_indexed (k int PRIMARY KEY, v int, m map<text, int>)");
  for (size_t i = 1; i < std::size(rich_schema); ++i) database.must(rich_schema[i]);
  Database copy;
  copy.run_script(database.describe("DESCRIBE ONLY KEYSPACE shop"));
  copy.run_script(database.describe("DESCRIBE TYPE shop.zip"));
  copy.run_script(database.describe("DESCRIBE TYPE shop.address"));
  for (const char* table : {"plain", "every_type", "orders", "uncompressed", "counts", "changed"}) {
    const std::string statement = std::string("DESCRIBE TABLE shop.") + table;
    const std::string described = database.describe(statement);
    copy.run_script(described);
    EXPECT_EQ(copy.describe(statement), described);
  }
}

}  // namespace
}  // namespace sibyl::engine
