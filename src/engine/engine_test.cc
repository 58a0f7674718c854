#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/test_directory.h"
#include "engine/describe/layout.h"
#include "engine/test_result.h"
#include "types/print.h"

namespace sibyl::engine {
namespace {

using base::TemporaryDirectory;
using execute::ResultSet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class TestClient {
 public:
  explicit TestClient(Engine& engine, std::string keyspace = "")
      : engine_(engine), keyspace_(std::move(keyspace)) {}

  base::Result<ResultSet> run(plan::PreparedPtr plan, const execute::Request& request = {}) {
    auto result = run_plan(engine_, std::move(plan), request);
    if (result && result->kind == ResultSet::Kind::set_keyspace) keyspace_ = result->keyspace;
    return result;
  }
  base::Result<ResultSet> run(std::string_view text) {
    auto plan = engine_.planner().plan_query(text, keyspace_);
    if (!plan) return base::fail(plan.error());
    return run(*plan);
  }
  // Returns rows as texts with values separated by `
  // `, or the message of an error.
  std::vector<std::string> rows(std::string_view text) { return print(run(text)); }
  std::vector<std::string> print(const base::Result<ResultSet>& result) {
    if (!result) return {"error: " + result.error().message()};
    return lines_of(*result);
  }
  void must(std::string_view text) {
    auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text << ": " << result.error().message();
  }
  std::string keyspace() const { return keyspace_; }

 private:
  Engine& engine_;
  std::string keyspace_;
};

std::unique_ptr<Engine> open(const std::string& data) {
  Options options;
  options.data = data;
  auto engine = Engine::open(options);
  EXPECT_TRUE(engine.has_value()) << engine.error().text();
  return engine ? std::move(*engine) : nullptr;
}

constexpr const char* create_keyspace =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

// These tests run on a store in memory and on a store on disk.
class EngineTest : public testing::TestWithParam<bool> {
 protected:
  EngineTest() { reopen(); }
  void reopen() {
    engine_.reset();
    engine_ = open(GetParam() ? directory_.path() + "/deep/data" : ":memory:");
    client_ = std::make_unique<TestClient>(*engine_);
  }
  void make_table() {
    client_->must(create_keyspace);
    client_->must("USE ks");
    client_->must("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))");
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<TestClient> client_;
};
INSTANTIATE_TEST_SUITE_P(Stores, EngineTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Directory" : "Memory"; });

TEST_P(EngineTest, ReadsWhatItWrote) {
  make_table();
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 2, 'two')");
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 1, 'one')");
  EXPECT_THAT(client_->rows("SELECT * FROM t WHERE k = 1"), ElementsAre("1|1|one", "1|2|two"));
  client_->must(
      "BEGIN BATCH UPDATE t SET v = 'zwei' WHERE k = 1 AND c = 2; DELETE FROM t WHERE k = 1 AND c = 1 APPLY "
      "BATCH");
  EXPECT_THAT(client_->rows("SELECT v FROM t WHERE k = 1"), ElementsAre("zwei"));
  client_->must("TRUNCATE t");
  EXPECT_THAT(client_->rows("SELECT * FROM t"), IsEmpty());
}

TEST_P(EngineTest, UseChecksTheKeyspace) {
  EXPECT_EQ(client_->run("USE nowhere").error().message(), "Keyspace 'nowhere' does not exist");
  client_->must(create_keyspace);
  auto result = client_->run("USE ks");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->kind, ResultSet::Kind::set_keyspace);
  EXPECT_EQ(result->keyspace, "ks");
}

TEST_P(EngineTest, DefinitionsAnswerAndNotify) {
  std::vector<schema::Change> heard;
  uint64_t token =
      engine_->schema_source().subscribe([&](const schema::Change& change) { heard.push_back(change); });
  base::Bytes version = engine_->schema()->version;
  auto result = client_->run(create_keyspace);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->kind, ResultSet::Kind::schema_change);
  EXPECT_EQ(result->change->kind, schema::Change::Kind::created);
  EXPECT_EQ(result->change->target, schema::Change::Target::keyspace);
  EXPECT_EQ(result->change->keyspace, "ks");
  EXPECT_NE(engine_->schema()->version, version);
  ASSERT_EQ(heard.size(), 1u);

  version = engine_->schema()->version;
  result =
      client_->run(std::string("CREATE KEYSPACE IF NOT EXISTS ks WITH replication = "
                               "{'class': 'SimpleStrategy', 'replication_factor': 1}"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->kind, ResultSet::Kind::nothing);
  EXPECT_EQ(engine_->schema()->version, version);
  EXPECT_EQ(heard.size(), 1u);
  engine_->schema_source().unsubscribe(token);
  client_->must("CREATE TABLE ks.t (k int PRIMARY KEY)");
  EXPECT_EQ(heard.size(), 1u);
  EXPECT_EQ(client_->run(create_keyspace).error().code(), base::ErrorCode::already_exists);
}

TEST_P(EngineTest, AnAddedColumnIsNullInOldRows) {
  make_table();
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 1, 'old')");
  client_->must("ALTER TABLE t ADD w int");
  client_->must("INSERT INTO t (k, c, v, w) VALUES (1, 2, 'new', 5)");
  EXPECT_THAT(client_->rows("SELECT * FROM t WHERE k = 1"), ElementsAre("1|1|old|null", "1|2|new|5"));
}

TEST_P(EngineTest, ADroppedAndAddedColumnHidesOldCells) {
  make_table();
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 1, 'old')");
  client_->must("ALTER TABLE t DROP v");
  client_->must("ALTER TABLE t ADD v text");
  EXPECT_THAT(client_->rows("SELECT * FROM t WHERE k = 1"), ElementsAre("1|1|null"));
}

TEST_P(EngineTest, ATableDroppedAndCreatedAgainIsEmpty) {
  make_table();
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 1, 'old')");
  client_->must("DROP TABLE t");
  EXPECT_THAT(client_->rows("SELECT * FROM t"), ElementsAre("error: table t does not exist"));
  client_->must("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))");
  EXPECT_THAT(client_->rows("SELECT * FROM t"), IsEmpty());
}

TEST_P(EngineTest, StatementIdsAreCassandras) {
  make_table();
  // MD5 of keyspace and text, or of the text alone if every table is qualified.
  EXPECT_EQ(base::to_hex(engine_->planner().prepare("SELECT * FROM t WHERE k = ?", "ks")->id),
            "a19706c7d99afa8ca2cf81c196871f10");
  EXPECT_EQ(engine_->planner().prepare("SELECT * FROM ks.t", "ks")->id,
            engine_->planner().prepare("SELECT * FROM ks.t", "")->id);
  EXPECT_NE(engine_->planner().prepare("SELECT * FROM t", "ks")->id,
            engine_->planner().prepare("SELECT * FROM ks.t", "ks")->id);
}

TEST_P(EngineTest, RepeatedTextsAreNotPlannedAgain) {
  make_table();
  constexpr const char* text = "SELECT * FROM t WHERE k = 7";
  auto first = engine_->planner().plan_query(text, "ks");
  auto second = engine_->planner().plan_query(text, "ks");
  auto third = engine_->planner().plan_query(text, "ks");
  EXPECT_EQ(*second, *third);
  client_->must("ALTER TABLE t ADD w int");
  auto fourth = engine_->planner().plan_query(text, "ks");
  EXPECT_NE(*third, *fourth);
  EXPECT_EQ((*fourth)->result->columns.size(), 4u);
  EXPECT_FALSE(engine_->planner().plan_query(text, "").has_value());
}

TEST_P(EngineTest, ConcurrentDefinitionsFollowOneAnother) {
  make_table();
  constexpr int threads = 4, each = 10;
  std::atomic<int> changes{0}, failures{0};
  engine_->schema_source().subscribe([&](const schema::Change&) { ++changes; });
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      TestClient client(*engine_, "ks");
      for (int i = 0; i < each; ++i) {
        std::string name = std::to_string(thread) + "_" + std::to_string(i);
        if (!client.run("ALTER TABLE t ADD a" + name + " int")) ++failures;
        if (!client.run("CREATE TABLE t" + name + " (k int PRIMARY KEY)")) ++failures;
        if (!client.run("INSERT INTO t" + name + " (k) VALUES (1)")) ++failures;
      }
    });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(changes, threads * each * 2);
  auto table = engine_->schema()->find_table("ks", "t");
  EXPECT_EQ(table->columns.size(), 3u + threads * each);
  std::set<uint32_t> ids;
  for (const auto& [name, made] : engine_->schema()->find_keyspace("ks")->tables)
    ids.insert(made->storage_id);
  EXPECT_EQ(ids.size(), 1u + threads * each);
  EXPECT_EQ(
      client_
          ->rows(
              "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'ks' AND table_name = 't'")
          .size(),
      3u + threads * each);
}

// --- System tables

TEST_P(EngineTest, SystemLocal) {
  engine_->server_tables().set_endpoint("127.0.0.2", 19042);
  EXPECT_THAT(
      client_->rows("SELECT key, bootstrapped, broadcast_address, broadcast_port, cluster_name, cql_version, "
                    "data_center, "
                    "listen_address, listen_port, native_protocol_version, partitioner, rack, "
                    "release_version, rpc_address, "
                    "rpc_port, tokens, truncated_at FROM system.local WHERE key = 'local'"),
      ElementsAre(
          "local|COMPLETED|127.0.0.2|7000|Sibyl|3.4.7|datacenter1|127.0.0.2|7000|5|org.apache.cassandra.dht."
          "Murmur3Partitioner|rack1|" +
          std::string(release_version) + "|127.0.0.2|19042|{'0'}|null"));
  auto versions = client_->rows("SELECT schema_version, host_id FROM system.local");
  ASSERT_EQ(versions.size(), 1u);
  EXPECT_THAT(versions[0], StartsWith(types::format_uuid(engine_->schema()->version)));
  client_->must(create_keyspace);
  EXPECT_THAT(client_->rows("SELECT schema_version FROM system.local WHERE key = 'local'"),
              ElementsAre(types::format_uuid(engine_->schema()->version)));
  EXPECT_THAT(client_->rows("SELECT * FROM system.peers"), IsEmpty());
  EXPECT_THAT(client_->rows("SELECT * FROM system.peers_v2"), IsEmpty());
}

TEST_P(EngineTest, SystemSchemaFollowsDefinitions) {
  make_table();
  client_->must("CREATE TYPE u (a int, b frozen<list<text>>)");
  client_->must("ALTER TABLE t ADD (x frozen<u>, s int static)");
  client_->must("ALTER TABLE t DROP v");
  EXPECT_THAT(
      client_->rows("SELECT * FROM system_schema.keyspaces WHERE keyspace_name = 'ks'"),
      ElementsAre(
          "ks|True|{'class': 'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '1'}"));
  EXPECT_THAT(
      client_->rows("SELECT column_name, clustering_order, column_name_bytes, kind, position, type FROM "
                    "system_schema.columns WHERE keyspace_name = 'ks' AND table_name = 't'"),
      ElementsAre("c|asc|0x63|clustering|0|int", "k|none|0x6b|partition_key|0|int",
                  "s|none|0x73|static|-1|int", "x|none|0x78|regular|-1|frozen<u>"));
  EXPECT_THAT(client_->rows("SELECT type_name, field_names, field_types FROM system_schema.types"),
              ElementsAre("u|['a', 'b']|['int', 'frozen<list<text>>']"));
  EXPECT_THAT(client_->rows("SELECT column_name, kind, type FROM system_schema.dropped_columns"),
              ElementsAre("v|regular|text"));
  EXPECT_THAT(
      client_->rows(
          "SELECT table_name, flags, gc_grace_seconds, allow_auto_snapshot, memtable, extensions FROM "
          "system_schema.tables WHERE keyspace_name = 'ks'"),
      ElementsAre("t|{'compound'}|864000|null|null|{}"));
  for (const char* table : {"functions", "aggregates", "triggers", "views", "indexes", "column_masks"})
    EXPECT_THAT(client_->rows(std::string("SELECT * FROM system_schema.") + table), IsEmpty()) << table;

  client_->must("DROP KEYSPACE ks");
  EXPECT_THAT(client_->rows("SELECT * FROM system_schema.tables WHERE keyspace_name = 'ks'"), IsEmpty());
  EXPECT_THAT(client_->rows("SELECT * FROM system_schema.columns WHERE keyspace_name = 'ks'"), IsEmpty());
  EXPECT_THAT(client_->rows("SELECT * FROM system_schema.types"), IsEmpty());
}

TEST_P(EngineTest, SystemKeyspacesDescribeThemselves) {
  EXPECT_THAT(client_->rows("SELECT keyspace_name FROM system_schema.keyspaces"),
              testing::UnorderedElementsAre("system", "system_schema", "system_traces", "system_auth",
                                            "system_distributed"));
  EXPECT_THAT(client_->rows("SELECT keyspace_name FROM system_virtual_schema.keyspaces"),
              testing::UnorderedElementsAre("system_virtual_schema", "system_views"));
  EXPECT_THAT(
      client_->rows(
          "SELECT id FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'local'"),
      ElementsAre("7ad54392-bcdd-35a6-8417-4e047860b377"));  // Cassandra's id
  EXPECT_EQ(
      client_
          ->rows("SELECT * FROM system_virtual_schema.columns WHERE keyspace_name = 'system_virtual_schema'")
          .size(),
      12u);
}

TEST_P(EngineTest, TablesFilledWhenTheyAreRead) {
  make_table();
  client_->must("INSERT INTO t (k, c, v) VALUES (1, 1, 'x')");
  ASSERT_TRUE(engine_->planner().prepare("SELECT v FROM t WHERE k = ?", "ks").has_value());
  EXPECT_THAT(client_->rows("SELECT logged_keyspace, query_string FROM system.prepared_statements"),
              ElementsAre("ks|SELECT v FROM t WHERE k = ?"));
  // The token of 1 is negative, so it is in the first of the two ranges.
  EXPECT_THAT(
      client_->rows(
          "SELECT table_name, range_start, range_end, partitions_count FROM system.size_estimates WHERE "
          "keyspace_name = 'ks'"),
      ElementsAre("t|-9223372036854775808|0|1", "t|0|-9223372036854775808|0"));
  EXPECT_EQ(client_->rows("SELECT * FROM system.table_estimates").size(), 4u);
  EXPECT_THAT(client_->rows("SELECT * FROM system_views.clients"), IsEmpty());
  engine_->server_tables().set_clients([] {
    engine::Client client;
    client.address = "127.0.0.1";
    client.port = 5000;
    client.driver_name = "some driver";
    return std::vector<engine::Client>{client};
  });
  EXPECT_THAT(client_->rows("SELECT address, port, driver_name FROM system_views.clients"),
              ElementsAre("127.0.0.1|5000|some driver"));
  engine_->server_tables().set_clients({});
  EXPECT_THAT(client_->rows("SELECT * FROM system_views.clients"), IsEmpty());
  EXPECT_THAT(client_->rows("SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'"),
              ElementsAre("group"));
}

TEST_P(EngineTest, DescribeGoesThroughTheEngine) {
  make_table();
  EXPECT_THAT(client_->rows("DESCRIBE TABLES"), ElementsAre("ks|table|t"));
  EXPECT_THAT(client_->rows("DESC TABLE t")[0], HasSubstr("CREATE TABLE ks.t ("));
  EXPECT_THAT(client_->rows("DESCRIBE TABLE nope"),
              ElementsAre("error: Table 'nope' not found in keyspace 'ks'"));
}

// --- On disk

TEST(EngineOnDisk, ARestartKeepsSchemaAndData) {
  TemporaryDirectory directory;
  std::string description, host;
  {
    auto engine = open(directory.path());
    TestClient client(*engine);
    client.must(create_keyspace);
    client.must("USE ks");
    client.must("CREATE TYPE u (a int)");
    client.must(
        "CREATE TABLE t (k int, c timestamp, v u, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)");
    client.must("INSERT INTO t (k, c, v) VALUES (1, 1000, {a: 7})");
    client.must("ALTER TABLE t ADD w int");
    client.must("CREATE TABLE gone (k int PRIMARY KEY)");
    client.must("INSERT INTO gone (k) VALUES (1)");
    client.must("DROP TABLE gone");
    description = client.rows("DESCRIBE TABLE t WITH INTERNALS").at(0);
    host = client.rows("SELECT host_id, schema_version FROM system.local").at(0);
  }
  auto engine = open(directory.path());
  TestClient client(*engine, "ks");
  EXPECT_THAT(client.rows("DESCRIBE TABLE t WITH INTERNALS"), ElementsAre(description));
  EXPECT_THAT(client.rows("SELECT host_id, schema_version FROM system.local"), ElementsAre(host));
  EXPECT_THAT(client.rows("SELECT k, v, w FROM t"), ElementsAre("1|{a: 7}|null"));
  client.must("CREATE TABLE gone (k int PRIMARY KEY)");
  EXPECT_THAT(client.rows("SELECT * FROM gone"), IsEmpty());
  client.must("INSERT INTO t (k, c, w) VALUES (1, 2000, 3)");
  ASSERT_TRUE(engine->flush().has_value());
  ASSERT_TRUE(engine->compact().has_value());
  EXPECT_THAT(client.rows("SELECT k, v, w FROM t"), ElementsAre("1|null|3", "1|{a: 7}|null"));
}

std::string refusal(const std::string& data) {
  Options options;
  options.data = data;
  auto engine = Engine::open(options);
  EXPECT_FALSE(engine.has_value());
  return engine ? "" : engine.error().text();
}

TEST(EngineOnDisk, RejectsDirectoriesThatItCannotOpen) {
  TemporaryDirectory directory;
  auto engine = open(directory.path() + "/data");
  // The directory is already open in this process.
  EXPECT_THAT(refusal(directory.path() + "/data"), HasSubstr("open"));
  std::filesystem::create_directory(directory.path() + "/foreign");
  std::ofstream(directory.path() + "/foreign/letter") << "Dear Cassandra";
  EXPECT_THAT(refusal(directory.path() + "/foreign"), HasSubstr("other files"));
  std::ofstream(directory.path() + "/file") << "x";
  EXPECT_THAT(refusal(directory.path() + "/file"), HasSubstr(directory.path() + "/file"));
  EXPECT_THAT(refusal("/proc/sibyl"), HasSubstr("/proc/sibyl"));
  EXPECT_THAT(refusal(""), HasSubstr(":memory:"));
}

}  // namespace
}  // namespace sibyl::engine
