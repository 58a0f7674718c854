#include "plan/definitions/definitions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/source_path.h"
#include "cql/parser.h"
#include "fmt/format.h"

namespace sibyl::plan {
namespace {

using schema::Change;

// A schema to which definitions are applied one after another, as in the engine.
class Database {
 public:
  Database() {
    auto snapshot = std::make_shared<schema::Snapshot>();
    for (const char* name : {"system", "system_schema", "system_auth", "system_distributed", "system_traces",
                             "system_views", "system_virtual_schema"}) {
      auto keyspace = std::make_shared<schema::Keyspace>();
      keyspace->name = name;
      keyspace->is_system = true;
      snapshot->keyspaces.insert_or_assign(name, keyspace);
    }
    schema = snapshot;
  }

  base::Result<DefinitionResult> run(const std::string& text) {
    auto statement = cql::parse_statement(text);
    if (!statement) return base::fail(statement.error());
    if (const auto* use = std::get_if<cql::Use>(&(*statement)->node)) {
      context.keyspace = use->keyspace;
      return DefinitionResult{schema, {}, {}, {}};
    }
    auto result = define(**statement, schema, context);
    if (result) schema = result->schema;
    return result;
  }
  void must(const std::string& text) {
    auto result = run(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
  }
  schema::TablePtr table(const std::string& name) const { return schema->find_table("m", name); }

  schema::SnapshotPtr schema;
  DefinitionContext context{"", 1'700'000'000'000'000};
};

Database with_keyspace() {
  Database database;
  database.must("CREATE KEYSPACE m WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  database.context.keyspace = "m";
  return database;
}

std::string print(const Change& change) {
  static const char* kinds[] = {"CREATED", "UPDATED", "DROPPED"};
  static const char* targets[] = {"KEYSPACE", "TABLE", "TYPE", "FUNCTION", "AGGREGATE"};
  return fmt::format("{} {} {}{}{}", kinds[static_cast<int>(change.kind)],
                     targets[static_cast<int>(change.target)], change.keyspace,
                     change.name.empty() ? "" : ".", change.name);
}

// A result in the spelling of the recorded transcripts.
std::string print(const base::Result<DefinitionResult>& result) {
  static const std::map<base::ErrorCode, const char*> names = {
      {base::ErrorCode::syntax, "SyntaxError"},
      {base::ErrorCode::invalid, "InvalidRequest"},
      {base::ErrorCode::config, "ConfigError"},
      {base::ErrorCode::unauthorized, "Unauthorized"},
      {base::ErrorCode::already_exists, "AlreadyExists"}};
  if (!result) {
    const base::Error& error = result.error();
    auto name = names.find(error.code());
    std::string text = fmt::format("ERROR 0x{:04x} {}: {}", static_cast<int>(error.code()),
                                   name == names.end() ? "?" : name->second, error.message());
    if (error.code() == base::ErrorCode::already_exists)
      text += fmt::format(" [keyspace='{}' table='{}']", error.details().keyspace, error.details().table);
    return text + "\n";
  }
  std::string text =
      result->changes.empty() ? "OK (void)\n" : "OK (schema change " + print(result->changes[0]) + ")\n";
  for (const std::string& warning : result->warnings)
    if (!warning.starts_with("cdc has no effect"))  // our own
      text += "  WARNING: " + warning + "\n";
  return text;
}

// Cassandra 5.0 ran every statement in this order; the results must be the same.
TEST(Definitions, MatchesCassandrasRecordedAnswers) {
  std::ifstream file(base::source_path("tests/data/definitions.txt"));
  ASSERT_TRUE(file) << "tests/data/definitions.txt not found";
  Database database;
  size_t statements = 0;
  std::string line, statement, expected;
  while (std::getline(file, line)) {
    if (line.starts_with("> ")) {
      statement = line.substr(2);
    } else if (!line.empty()) {
      expected += line + "\n";
    } else if (!statement.empty()) {
      if (expected.starts_with("OK (set keyspace")) expected = "OK (void)\n";
      EXPECT_EQ(print(database.run(statement)), expected) << statement;
      ++statements;
      statement.clear();
      expected.clear();
    }
  }
  EXPECT_GT(statements, 400u);
}

TEST(Definitions, OptionsWithoutEffectCauseWarnings) {
  Database database = with_keyspace();
  const auto warnings = [&](const std::string& text) {
    const auto result = database.run(text);
    EXPECT_TRUE(result.has_value());
    return result ? result->warnings : std::vector<std::string>();
  };
  const auto warns = testing::ElementsAre(testing::HasSubstr("cdc has no effect"));
  EXPECT_THAT(warnings("CREATE TABLE a (k int PRIMARY KEY) WITH cdc = true"), warns);
  EXPECT_THAT(warnings("CREATE TABLE b (k int PRIMARY KEY) WITH cdc = false"), testing::IsEmpty());
  EXPECT_THAT(warnings("ALTER TABLE b WITH cdc = true"), warns);
  EXPECT_THAT(warnings("ALTER TABLE b WITH comment = 'x'"), testing::IsEmpty());
  EXPECT_THAT(warnings("ALTER TABLE b WITH cdc = false"), testing::IsEmpty());
}

TEST(Definitions, UntouchedPartsAreShared) {
  Database database = with_keyspace();
  database.must("CREATE TABLE a (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE b (k int PRIMARY KEY, v int)");
  database.must(
      "CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  const schema::SnapshotPtr before = database.schema;
  database.must("ALTER TABLE a ADD w text");
  EXPECT_NE(before->version, database.schema->version);
  EXPECT_EQ(before->find_keyspace("other"), database.schema->find_keyspace("other"));
  EXPECT_EQ(before->find_table("m", "b"), database.schema->find_table("m", "b"));
  EXPECT_NE(before->find_table("m", "a"), database.schema->find_table("m", "a"));
  EXPECT_EQ(before->find_table("m", "a")->find("w"), nullptr);

  const schema::SnapshotPtr same = database.schema;
  database.must("ALTER TABLE IF EXISTS nothing ADD w text");
  EXPECT_EQ(same, database.schema);
}

TEST(Definitions, ColumnsAreOrderedAndNumbered) {
  Database database = with_keyspace();
  database.must(
      "CREATE TABLE t (z int, s text static, b int, a int, c timeuuid, y text, PRIMARY KEY ((b, a), c)) WITH "
      "CLUSTERING ORDER BY (c DESC)");
  const schema::TablePtr table = database.table("t");
  std::vector<std::string> names;
  std::set<uint32_t> ids;
  for (const schema::Column& column : table->columns) {
    names.push_back(column.name);
    ids.insert(column.id);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a", "c", "s", "y", "z"}));
  EXPECT_EQ(ids.size(), names.size());
  EXPECT_TRUE(table->find("c")->descending);
  EXPECT_EQ(table->partition_key_count, 2u);
  EXPECT_EQ(table->clustering_count, 1u);
  EXPECT_EQ(table->static_count, 1u);
  EXPECT_EQ(table->id.size(), 16u);
}

TEST(Definitions, AReaddedColumnIsANewColumn) {
  Database database = with_keyspace();
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w int)");
  const uint32_t first = database.table("t")->find("w")->id;
  database.must("ALTER TABLE t DROP w");
  ASSERT_EQ(database.table("t")->dropped_columns.size(), 1u);
  EXPECT_EQ(database.table("t")->dropped_columns[0].dropped_micros, database.context.now_micros);
  database.must("ALTER TABLE t ADD w int");
  EXPECT_GT(database.table("t")->find("w")->id, first);
  database.must("ALTER TABLE t DROP w USING TIMESTAMP 12");
  ASSERT_EQ(database.table("t")->dropped_columns.size(), 1u);
  EXPECT_EQ(database.table("t")->dropped_columns[0].dropped_micros, 12);
}

TEST(Definitions, StorageIdsAreNeverReused) {
  Database database = with_keyspace();
  std::set<uint32_t> ids;
  for (int round = 0; round < 4; ++round) {
    database.must("CREATE TABLE t (k int PRIMARY KEY)");
    EXPECT_TRUE(ids.insert(database.table("t")->storage_id).second);
    const uint32_t id = database.table("t")->storage_id;
    auto dropped = database.run("DROP TABLE t");
    ASSERT_TRUE(dropped);
    EXPECT_EQ(dropped->dropped_storage_ids, std::vector<uint32_t>{id});
  }
}

TEST(Definitions, AlteringATypeUpdatesAllItsUsers) {
  Database database = with_keyspace();
  database.must("CREATE TYPE inner (a int)");
  database.must("CREATE TYPE outer (i frozen<inner>, l frozen<list<frozen<inner>>>)");
  database.must("CREATE TABLE direct (k int PRIMARY KEY, u inner)");
  database.must("CREATE TABLE nested (k int PRIMARY KEY, m map<int, frozen<outer>>)");
  database.must("CREATE TABLE apart (k int PRIMARY KEY, v int)");
  const schema::TablePtr apart = database.table("apart");
  auto result = database.run("ALTER TYPE inner ADD b text");
  ASSERT_TRUE(result);
  EXPECT_EQ(database.table("apart"), apart);
  const types::Type& direct = *database.table("direct")->find("u")->type;
  EXPECT_EQ(direct.field_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(direct.is_multi_cell());
  const types::Type& outer = *database.table("nested")->find("m")->type->map_value();
  EXPECT_EQ(outer.parameters()[0]->field_names().size(), 2u);
  EXPECT_EQ(outer.parameters()[1]->element()->field_names().size(), 2u);
  std::vector<std::string> changes;
  for (const Change& change : result->changes) changes.push_back(print(change));
  EXPECT_EQ(changes, (std::vector<std::string>{"UPDATED TYPE m.inner", "UPDATED TYPE m.outer",
                                               "UPDATED TABLE m.direct", "UPDATED TABLE m.nested"}));
}

// Three levels of sixty fields each: 216,000 values.
TEST(Definitions, TypesHoldALimitedNumberOfValues) {
  Database database = with_keyspace();
  const auto fields = [](const std::string& type, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}f{} {}", i == 0 ? "" : ", ", i, type);
    return text;
  };
  database.must("CREATE TYPE t0 (" + fields("int", 60) + ")");
  database.must("CREATE TYPE t1 (" + fields("frozen<t0>", 60) + ")");
  const auto too_large = [&](const std::string& text, const std::string& name) {
    const auto result = database.run(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code(), base::ErrorCode::invalid);
    EXPECT_EQ(result.error().message(), "Types may hold at most 65536 values: " + name);
  };
  too_large("CREATE TYPE t2 (" + fields("frozen<t1>", 60) + ")", "m.t2");
  too_large("CREATE TABLE x (k int PRIMARY KEY, v vector<float, 2147483647>)", "vector<float, 2147483647>");
  too_large("CREATE TABLE x (k int PRIMARY KEY, v frozen<list<vector<frozen<t1>, 19>>>)",
            "frozen<list<vector<frozen<t1>, 19>>>");
  // When a type gets more values, the types that use it get more values too.
  database.must("CREATE TYPE t2 (" + fields("frozen<t1>", 17) + ")");
  database.must("CREATE TABLE x (k int PRIMARY KEY, v frozen<t2>)");
  too_large("ALTER TYPE t0 ADD g vector<float, 10>", "m.t2");
  database.must("ALTER TYPE t0 ADD g int");
}

TEST(Definitions, DroppingAKeyspaceDropsItsContents) {
  Database database = with_keyspace();
  database.must("CREATE TYPE u (a int)");
  database.must("CREATE TABLE t (k int PRIMARY KEY, v frozen<u>)");
  const uint32_t id = database.table("t")->storage_id;
  auto result = database.run("DROP KEYSPACE m");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->dropped_storage_ids, std::vector<uint32_t>{id});
  ASSERT_EQ(result->changes.size(), 3u);
  EXPECT_EQ(print(result->changes[0]), "DROPPED KEYSPACE m");
  EXPECT_EQ(print(result->changes[1]), "DROPPED TABLE m.t");
  EXPECT_EQ(print(result->changes[2]), "DROPPED TYPE m.u");
  EXPECT_EQ(database.schema->find_keyspace("m"), nullptr);
}

TEST(Definitions, ChangesOfATableIncludeItsViews) {
  Database database = with_keyspace();
  database.must("CREATE TYPE u (a int)");
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w u)");
  database.must(
      "CREATE MATERIALIZED VIEW a AS SELECT * FROM t WHERE k IS NOT NULL AND v IS NOT NULL "
      "PRIMARY KEY (v, k)");
  database.must(
      "CREATE MATERIALIZED VIEW some AS SELECT v, k FROM t WHERE k IS NOT NULL AND v IS NOT NULL "
      "PRIMARY KEY (v, k)");
  const auto changes = [&](const std::string& statement) {
    std::vector<std::string> printed;
    auto result = database.run(statement);
    EXPECT_TRUE(result) << statement;
    if (result)
      for (const Change& change : result->changes) printed.push_back(print(change));
    return printed;
  };
  using Printed = std::vector<std::string>;
  EXPECT_EQ(changes("ALTER TABLE t ADD x int"), (Printed{"UPDATED TABLE m.t", "UPDATED TABLE m.a"}));
  EXPECT_EQ(changes("ALTER TABLE t RENAME k TO kk"),
            (Printed{"UPDATED TABLE m.t", "UPDATED TABLE m.a", "UPDATED TABLE m.some"}));
  EXPECT_EQ(changes("ALTER TABLE t WITH comment = 'x'"), Printed{"UPDATED TABLE m.t"});
  // Tables come before views, in any order of names.
  EXPECT_EQ(changes("ALTER TYPE u ADD b int"),
            (Printed{"UPDATED TYPE m.u", "UPDATED TABLE m.t", "UPDATED TABLE m.a"}));
  EXPECT_EQ(changes("DROP KEYSPACE m"),
            (Printed{"DROPPED KEYSPACE m", "DROPPED TABLE m.a", "DROPPED TABLE m.some", "DROPPED TABLE m.t",
                     "DROPPED TYPE m.u"}));
}

TEST(Definitions, OptionsAreStoredAsInTheSchemaTables) {
  Database database = with_keyspace();
  database.must(
      "CREATE TABLE t (k int PRIMARY KEY) WITH compaction = {'class': 'LeveledCompactionStrategy', "
      "'sstable_size_in_mb': 64} AND compression = {'class': 'ZstdCompressor', 'compression_level': '5', "
      "'min_compress_ratio': 1.1} AND caching = {'keys': 'none', 'rows_per_partition': '007'} AND "
      "speculative_retry = "
      "'max(99percentile, 100MS)' AND additional_write_policy = '99.0P' AND read_repair = 'none' AND comment "
      "= 'c' AND "
      "gc_grace_seconds = 100 AND cdc = 'yes' AND id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18");
  const schema::TableOptions& options = database.table("t")->options;
  EXPECT_EQ(options.compaction, (std::map<std::string, std::string>{
                                    {"class", "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"},
                                    {"max_threshold", "32"},
                                    {"min_threshold", "4"},
                                    {"sstable_size_in_mb", "64"}}));
  EXPECT_EQ(options.compression,
            (std::map<std::string, std::string>{{"chunk_length_in_kb", "16"},
                                                {"class", "org.apache.cassandra.io.compress.ZstdCompressor"},
                                                {"compression_level", "5"},
                                                {"min_compress_ratio", "1.1"}}));
  EXPECT_EQ(options.caching.at("rows_per_partition"), "7");
  EXPECT_EQ(options.bloom_filter_fp_chance, 0.1);
  EXPECT_EQ(options.speculative_retry, "MAX(99p,100ms)");
  EXPECT_EQ(options.additional_write_policy, "99p");
  EXPECT_EQ(options.read_repair, "NONE");
  EXPECT_TRUE(options.cdc);
  EXPECT_EQ(base::to_hex(database.table("t")->id), "5a1c395eb41f11e59f22ba0be0483c18");
  auto twice =
      database.run("CREATE TABLE t2 (k int PRIMARY KEY) WITH id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code(), base::ErrorCode::config);
}

TEST(Definitions, ReplicationIsNormalised) {
  Database database;
  database.must(
      "CREATE KEYSPACE a WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}");
  using Map = std::map<std::string, std::string>;
  EXPECT_EQ(database.schema->find_keyspace("a")->replication,
            (Map{{"class", "org.apache.cassandra.locator.NetworkTopologyStrategy"}, {"datacenter1", "1"}}));
  database.must("ALTER KEYSPACE a WITH replication = {'class': 'SimpleStrategy'}");
  EXPECT_EQ(database.schema->find_keyspace("a")->replication,
            (Map{{"class", "org.apache.cassandra.locator.SimpleStrategy"}, {"replication_factor", "1"}}));
}

TEST(Definitions, ATableWithoutAKeyGetsAHint) {
  Database database = with_keyspace();
  auto result = database.run("CREATE TABLE t (id text, name text)");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "No PRIMARY KEY specifed for table 't' (exactly one required)");
  EXPECT_NE(result.error().hint().find("PRIMARY KEY (id)"), std::string::npos);
}

TEST(Definitions, CommonMistakesGetHints) {
  Database database = with_keyspace();
  database.must("CREATE TYPE address (street text, phones set<text>)");
  const auto hint_of = [&](const std::string& text) {
    auto result = database.run(text);
    return result ? "none" : result.error().hint();
  };
  EXPECT_EQ(hint_of("CREATE TABLE customer (name text PRIMARY KEY, address address)"),
            "write address frozen<address>: its value is then always replaced as a whole");
  EXPECT_EQ(hint_of("CREATE TABLE p (year text, price decimal, PRIMARY KEY (year, price, color))"),
            "declare color with its type in the list of columns");
  EXPECT_EQ(hint_of("CREATE TABLE t (k int PRIMARY KEY, l list<list<int>>)"),
            "write frozen<list<int>>: each element is then always replaced as a whole");
  EXPECT_EQ(hint_of("CREATE TABLE t (k set<int> PRIMARY KEY)"), "write frozen<set<int>>");
  EXPECT_EQ(hint_of("CREATE TABLE t (k int PRIMARY KEY, n counter, v int)"),
            "keep the counters in a table of their own with the same key");
}

}  // namespace
}  // namespace sibyl::plan
