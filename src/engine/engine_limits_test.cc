// Guardrails, consistency levels and EXPLAIN through the engine, and clocks that go backwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <future>

#include "base/clock.h"
#include "engine/test_result.h"

namespace sibyl::engine {
namespace {

using execute::Consistency;
using execute::ResultSet;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Database {
 public:
  explicit Database(Options options = {}) {
    auto opened = Engine::open(options);
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE KEYSPACE k3 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
  }

  base::Result<ResultSet> run(std::string_view text, const execute::Request& request = {}) {
    return run_text(*engine_, text, "k", request);
  }
  void compact() { EXPECT_TRUE(engine_->compact().has_value()); }
  void must(std::string_view text) {
    const auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().message());
  }
  std::string refusal(std::string_view text, const execute::Request& request = {}) {
    const auto result = run(text, request);
    return result ? "" : result.error().message();
  }
  std::vector<std::string> warnings(std::string_view text, const execute::Request& request = {}) {
    const auto result = run(text, request);
    return result ? result->warnings : std::vector<std::string>{"error: " + result.error().message()};
  }
  // Returns the first column of every row, as text.
  std::vector<std::string> column(std::string_view text) {
    const auto result = run(text);
    if (!result) return {"error: " + result.error().message()};
    std::vector<std::string> out;
    for (const auto& cells : cells_of(*result)) out.push_back(cells[0]);
    return out;
  }

 private:
  std::unique_ptr<Engine> engine_;
};

// Measured by actual allocations, not by the cache's own estimates.
TEST(PreparedStatements, StayWithinTheMemoryLimit) {
  auto engine = Engine::open({});
  ASSERT_TRUE(engine);
  const auto run = [&](std::string_view text) { ASSERT_TRUE(run_text(**engine, text, "k", {})) << text; };
  run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
  const auto prepare = [&](size_t terms, char first, std::string_view term) {
    std::string text = "SELECT v FROM k.t WHERE k IN (" + std::string(1, first);
    for (size_t i = 1; i < terms; ++i) text.append(",").append(term);
    return (*engine)->planner().prepare(text + ")", "");
  };
  const size_t before = mallinfo2().uordblks;
  for (char i = '0'; i <= '9'; ++i) ASSERT_TRUE(prepare(40'000, i, i % 2 == 0 ? "1" : "?"));
  const size_t held = mallinfo2().uordblks - before;
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "what is allocated is not known here";
  const PreparedStatistics statistics = (*engine)->services().measurements.prepared();
  EXPECT_LE(statistics.bytes, 64u << 20);
  EXPECT_GT(statistics.bytes, 32u << 20);
  EXPECT_LE(held, statistics.bytes * 5 / 4);
  const auto refused = prepare(200'000, '0', "1");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("is larger than allowed maximum of 32 MB: SELECT v"));
  EXPECT_TRUE(prepare(65'535, '?', "?"));  // this is the maximum number of markers
}

execute::Request at(Consistency consistency) {
  execute::Request request;
  request.consistency = consistency;
  return request;
}

TEST(ConsistencyLevels, MoreReplicasThanTheKeyspaceHasAreUnavailable) {
  Database database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE k3.t (k int PRIMARY KEY, v int)");
  for (const char* text : {"SELECT * FROM t", "INSERT INTO t (k) VALUES (1)", "SELECT * FROM system.local",
                           "BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH"}) {
    const auto result = database.run(text, at(Consistency::two));
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code(), base::ErrorCode::unavailable);
    EXPECT_EQ(result.error().message(), "Cannot achieve consistency level TWO");
    EXPECT_EQ(result.error().details().consistency, 2);
    EXPECT_EQ(result.error().details().required, 2);
    EXPECT_EQ(result.error().details().received, 1);
  }
  EXPECT_EQ(database.refusal("SELECT * FROM t", at(Consistency::three)),
            "Cannot achieve consistency level THREE");
  EXPECT_EQ(database.refusal("SELECT * FROM k3.t", at(Consistency::three)), "");
  EXPECT_EQ(database.refusal("SELECT * FROM k3.t", at(Consistency::quorum)), "");
  EXPECT_EQ(database.refusal("SELECT * FROM system_views.settings", at(Consistency::two)), "");
  EXPECT_EQ(database.refusal("TRUNCATE t", at(Consistency::two)), "");
}

TEST(ConsistencyLevels, InvalidLevelsAreRejected) {
  Database database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  EXPECT_EQ(database.refusal("SELECT * FROM t", at(Consistency::any)),
            "ANY ConsistencyLevel is only supported for writes");
  EXPECT_EQ(database.refusal("INSERT INTO t (k) VALUES (1)", at(Consistency::serial)),
            "You must use conditional updates for serializable writes");
  EXPECT_EQ(database.refusal("UPDATE n SET n = n + 1 WHERE k = 1", at(Consistency::local_serial)),
            "Counter operations are inherently non-serializable");
  EXPECT_EQ(database.refusal("UPDATE n SET n = n + 1 WHERE k = 1", at(Consistency::any)),
            "Consistency level ANY is not yet supported for counter table n");
}

TEST(EngineGuardrails, Definitions) {
  Options options;
  options.guardrails.keyspaces = {.warn = 2, .fail = 3};
  options.guardrails.tables = {.warn = 1, .fail = 2};
  options.guardrails.columns_per_table = {.warn = 2, .fail = 3};
  options.guardrails.fields_per_udt = {.warn = 1, .fail = 2};
  options.guardrails.vector_dimensions = {.warn = 4, .fail = 8};
  options.guardrails.maximum_replication_factor = {.warn = -1, .fail = 5};
  options.guardrails.uncompressed_tables_enabled = false;
  options.guardrails.drop_keyspace_enabled = false;
  options.guardrails.table_properties = {.warned = {}, .ignored = {"caching"}, .disallowed = {"cdc"}};
  Database database(options);
  EXPECT_THAT(database.warnings("CREATE KEYSPACE x WITH replication = {'class': 'SimpleStrategy', "
                                "'replication_factor': 1}"),
              ElementsAre("Guardrail keyspaces violated: Creating keyspace x, current number of keyspaces 3 "
                          "exceeds warning threshold of 2."));
  EXPECT_EQ(
      database.refusal("CREATE KEYSPACE y WITH replication = {'class': 'SimpleStrategy', "
                       "'replication_factor': 1}"),
      "Guardrail keyspaces violated: Cannot have more than 3 keyspaces, aborting the creation of keyspace y");
  EXPECT_THAT(database.refusal("ALTER KEYSPACE x WITH replication = {'class': 'SimpleStrategy', "
                               "'replication_factor': 6}"),
              HasSubstr("has a replication factor of 6, above the failure threshold of 5."));
  EXPECT_EQ(database.refusal("DROP KEYSPACE x"),
            "Guardrail drop_keyspace_enabled violated: DROP KEYSPACE functionality is not allowed");
  EXPECT_EQ(database.refusal("CREATE TABLE a (k int PRIMARY KEY, b int, c int, d int)"),
            "Guardrail columns_per_table violated: Tables cannot have more than 3 columns, but 4 provided "
            "for table a");
  EXPECT_EQ(
      database.refusal("CREATE TABLE a (k int PRIMARY KEY, v vector<float, 9>)"),
      "Guardrail vector_dimensions violated: Column v has a vector of 9 dimensions, this exceeds the failure "
      "threshold of 8.");
  EXPECT_EQ(database.refusal("CREATE TABLE a (k int PRIMARY KEY) WITH compression = {'enabled': 'false'}"),
            "Guardrail uncompressed_tables_enabled violated: Uncompressed table is not allowed");
  EXPECT_THAT(database.refusal("CREATE TABLE a (k int PRIMARY KEY) WITH cdc = true"),
              StartsWith("Guardrail table_properties violated: Provided values [cdc] are not allowed"));
  EXPECT_THAT(database.warnings("CREATE TABLE a (k int PRIMARY KEY) WITH caching = {'keys': 'NONE'}"),
              Contains(HasSubstr("Ignoring provided values [caching]")));
  EXPECT_THAT(database.column("SELECT caching FROM system_schema.tables WHERE keyspace_name = 'k'"),
              ElementsAre("{'keys': 'ALL', 'rows_per_partition': 'NONE'}"));
  EXPECT_THAT(
      database.warnings("CREATE TABLE b (k int PRIMARY KEY)"),
      ElementsAre("Guardrail tables violated: Creating table b, current number of tables 2 exceeds warning "
                  "threshold of 1."));
  EXPECT_EQ(database.refusal("CREATE TABLE c (k int PRIMARY KEY)"),
            "Guardrail tables violated: Cannot have more than 2 tables, aborting the creation of table c");
  EXPECT_THAT(database.warnings("ALTER TABLE a ADD (v int, w int)"), Contains(HasSubstr("has 3 columns")));
  EXPECT_EQ(database.refusal("CREATE TYPE ty (a int, b int, c int)"),
            "Guardrail fields_per_udt violated: User types cannot have more than 2 columns, but 3 provided "
            "for user "
            "type ty.");
}

TEST(EngineGuardrails, IndexesAndViews) {
  Options options;
  options.guardrails.secondary_indexes_per_table = {.warn = -1, .fail = 1};
  options.guardrails.materialized_views_per_table = {.warn = -1, .fail = 1};
  Database database(options);
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w int)");
  database.must("CREATE INDEX one ON t (v)");
  EXPECT_EQ(
      database.refusal("CREATE INDEX two ON t (w)"),
      "Guardrail secondary_indexes_per_table violated: Tables cannot have more than 1 secondary indexes, "
      "aborting the creation of secondary index two");
  database.must(
      "CREATE MATERIALIZED VIEW a AS SELECT * FROM t WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, "
      "k)");
  EXPECT_EQ(
      database.refusal("CREATE MATERIALIZED VIEW b AS SELECT * FROM t WHERE w IS NOT NULL AND k IS NOT NULL "
                       "PRIMARY KEY (w, k)"),
      "Guardrail materialized_views_per_table violated: Tables cannot have more than 1 materialized views, "
      "aborting the creation of materialized view b");
}

TEST(EngineGuardrails, Statements) {
  Options options;
  options.guardrails.group_by_enabled = false;
  options.guardrails.allow_filtering_enabled = false;
  options.guardrails.user_timestamps_enabled = false;
  options.guardrails.drop_truncate_table_enabled = false;
  options.guardrails.alter_table_enabled = false;
  options.guardrails.read_before_write_list_operations_enabled = false;
  options.guardrails.page_size = {.warn = 10, .fail = 100};
  options.guardrails.partition_keys_in_select = {.warn = 1, .fail = 3};
  options.guardrails.in_select_cartesian_product = {.warn = 2, .fail = 6};
  options.guardrails.read_consistency_levels = {.warned = {"ALL"}, .ignored = {}, .disallowed = {"ONE"}};
  options.guardrails.write_consistency_levels = {.warned = {}, .ignored = {}, .disallowed = {"ANY"}};
  Database database(options);
  database.must("CREATE TABLE t (k int, c int, v int, l list<int>, PRIMARY KEY (k, c))");
  const execute::Request quorum = at(Consistency::quorum);
  EXPECT_EQ(database.refusal("SELECT k FROM t GROUP BY k", quorum),
            "Guardrail group_by violated: GROUP BY functionality is not allowed");
  EXPECT_THAT(database.refusal("SELECT k FROM t WHERE v = 1 ALLOW FILTERING", quorum),
              StartsWith("Guardrail allow_filtering violated:"));
  EXPECT_EQ(database.refusal("INSERT INTO t (k, c) VALUES (1, 1) USING TIMESTAMP 5", quorum),
            "Guardrail user_timestamps violated: User provided timestamps (USING TIMESTAMP) is not allowed");
  EXPECT_EQ(database.refusal("UPDATE t SET l[0] = 1 WHERE k = 1 AND c = 1", quorum),
            "Guardrail read_before_write_list_operations violated: List operation requiring read before "
            "write is not "
            "allowed");
  EXPECT_EQ(
      database.refusal("TRUNCATE t", quorum),
      "Guardrail drop_truncate_table_enabled violated: DROP and TRUNCATE TABLE functionality is not allowed");
  EXPECT_EQ(
      database.refusal("DROP TABLE t", quorum),
      "Guardrail drop_truncate_table_enabled violated: DROP and TRUNCATE TABLE functionality is not allowed");
  EXPECT_EQ(database.refusal("ALTER TABLE t ADD x int", quorum),
            "Guardrail alter_table violated: ALTER TABLE changing columns is not allowed");

  execute::Request paged = quorum;
  paged.page_size = 11;
  EXPECT_THAT(
      database.warnings("SELECT * FROM t", paged),
      ElementsAre(
          "Guardrail page_size violated: Query for table t with page size 11 exceeds warning threshold "
          "of 10."));
  paged.page_size = 101;
  EXPECT_EQ(database.refusal("SELECT * FROM t", paged),
            "Guardrail page_size violated: Aborting query for table t, page size 101 exceeds fail threshold "
            "of 100.");
  EXPECT_THAT(
      database.warnings("SELECT * FROM t WHERE k IN (1, 2)", quorum),
      Contains(StartsWith("Guardrail partition_keys_in_select violated: Query with partition keys in IN")));
  EXPECT_THAT(database.refusal("SELECT * FROM t WHERE k IN (1, 2, 3, 4)", quorum),
              HasSubstr("number of partition keys 4 exceeds fail threshold of 3."));
  EXPECT_THAT(database.refusal("SELECT * FROM t WHERE k = 1 AND c IN (1, 2, 3, 4, 5, 6, 7)", quorum),
              HasSubstr("the cartesian product of the IN restrictions on clustering key produces 7 values"));
  EXPECT_THAT(
      database.warnings("SELECT * FROM t", at(Consistency::all)),
      ElementsAre("Guardrail read_consistency_levels violated: Provided values [ALL] are not recommended for "
                  "read consistency levels (warned values are: [ALL])"));
  EXPECT_THAT(
      database.refusal("SELECT * FROM t", at(Consistency::one)),
      StartsWith("Guardrail read_consistency_levels violated: Provided values [ONE] are not allowed"));
  EXPECT_THAT(
      database.refusal("INSERT INTO t (k, c) VALUES (1, 1)", at(Consistency::any)),
      StartsWith("Guardrail write_consistency_levels violated: Provided values [ANY] are not allowed"));
}

TEST(EngineGuardrails, TombstonesOfOneRead) {
  Options options;
  options.guardrails.tombstone_warn_threshold = 5;
  options.guardrails.tombstone_failure_threshold = 20;
  Database database(options);
  database.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  for (int i = 0; i < 10; ++i) database.must("DELETE FROM t WHERE k = 1 AND c = " + std::to_string(i));
  database.must("INSERT INTO t (k, c, v) VALUES (1, 100, 1)");
  EXPECT_THAT(
      database.warnings("SELECT * FROM t WHERE k = 1"),
      ElementsAre("Read 1 live rows and 10 tombstone cells for query SELECT * FROM t WHERE k = 1; token "
                  "-4069959284402364209 (see tombstone_warn_threshold)"));
  EXPECT_THAT(database.warnings("SELECT * FROM t WHERE k = 1 AND c < 5"), IsEmpty());
  for (int i = 0; i < 11; ++i)
    database.must("DELETE v FROM t WHERE k = 1 AND c = " + std::to_string(200 + i));
  const auto result = database.run("SELECT * FROM t WHERE k = 1");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), base::ErrorCode::read_failure);
  EXPECT_THAT(result.error().message(), HasSubstr("READ_TOO_MANY_TOMBSTONES"));
  EXPECT_EQ(result.error().details().failures, 1);
}

TEST(EngineGuardrails, ValuesThatAreWritten) {
  Options options;
  options.guardrails.column_value_size = {.warn = 6, .fail = 8};
  options.guardrails.items_per_collection = {.warn = 1, .fail = 3};
  options.guardrails.maximum_timestamp = {.warn = -1, .fail = 1'000'000};
  Database database(options);
  database.must("CREATE TABLE t (k int PRIMARY KEY, v text, s set<int>)");
  EXPECT_THAT(database.warnings("INSERT INTO t (k, v) VALUES (1, 'abcdef')"), IsEmpty());
  EXPECT_THAT(
      database.warnings("INSERT INTO t (k, v) VALUES (1, 'abcdefg')"),
      ElementsAre("Guardrail column_value_size violated: Value of column 'v' has size 7, this exceeds the "
                  "warning threshold of 6."));
  EXPECT_EQ(database.refusal("UPDATE t SET v = 'abcdefghi' WHERE k = 1"),
            "Guardrail column_value_size violated: Value of column 'v' has size 9, this exceeds the failure "
            "threshold "
            "of 8.");
  EXPECT_THAT(
      database.warnings("BEGIN BATCH UPDATE t SET s = s + {1, 2} WHERE k = 1; APPLY BATCH"),
      ElementsAre("Guardrail items_per_collection violated: Detected collection s with 2 items, this exceeds "
                  "the warning threshold of 1."));
  EXPECT_THAT(database.refusal("INSERT INTO t (k, s) VALUES (1, {1, 2, 3, 4}) IF NOT EXISTS"), IsEmpty());
  EXPECT_THAT(database.refusal("INSERT INTO t (k, s) VALUES (2, {1, 2, 3, 4}) IF NOT EXISTS"),
              StartsWith("Guardrail items_per_collection violated:"));
  EXPECT_THAT(database.refusal("INSERT INTO t (k) VALUES (1) USING TIMESTAMP 9000000000000000"),
              StartsWith("Guardrail maximum_timestamp violated: The modification to table t has a timestamp "
                         "9000000000000000 after the maximum allowable failure threshold "));
}

TEST(EngineGuardrails, AreShownAsSettings) {
  Database database;
  EXPECT_THAT(
      database.column("SELECT value FROM system_views.settings WHERE name = 'tombstone_warn_threshold'"),
      ElementsAre("1000"));
  EXPECT_THAT(database.column("SELECT value FROM system_views.settings WHERE name = 'tables_fail_threshold'"),
              ElementsAre("-1"));
}

// --- Time

TEST(Clocks, AWriteAfterTheClockWentBackStillWins) {
  base::ManualClock clock(1'000'000'000'000'000);
  Options options;
  options.clock = &clock;
  Database database(options);
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("INSERT INTO t (k, v) VALUES (1, 1)");
  clock.set_micros(900'000'000'000'000);
  database.must("INSERT INTO t (k, v) VALUES (1, 2)");
  EXPECT_THAT(database.column("SELECT v FROM t"), ElementsAre("2"));
  database.must("DELETE FROM t WHERE k = 1");
  EXPECT_THAT(database.column("SELECT v FROM t"), IsEmpty());
  database.must("INSERT INTO t (k, v) VALUES (1, 3)");
  EXPECT_THAT(database.column("SELECT v FROM t"), ElementsAre("3"));
}

TEST(Clocks, CellsExpireByTheClock) {
  base::ManualClock clock(1'000'000'000'000'000);
  Options options;
  options.clock = &clock;
  Database database(options);
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w int)");
  database.must("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 10");
  database.must("UPDATE t SET w = 2 WHERE k = 1");
  EXPECT_THAT(database.column("SELECT ttl(v) FROM t"), ElementsAre("10"));
  clock.advance_seconds(9);
  EXPECT_THAT(database.column("SELECT ttl(v) FROM t"), ElementsAre("1"));
  EXPECT_THAT(database.column("SELECT v FROM t"), ElementsAre("1"));
  clock.advance_seconds(1);
  EXPECT_THAT(database.column("SELECT v FROM t"), ElementsAre("null"));
  EXPECT_THAT(database.column("SELECT k FROM t"), ElementsAre("1"));  // w has no TTL, so it does not expire
  database.must("UPDATE t SET w = null WHERE k = 1");
  EXPECT_THAT(database.column("SELECT k FROM t"), IsEmpty());
}

TEST(Clocks, ADeletionAppliesUntilTheGracePeriodIsOver) {
  base::ManualClock clock(1'000'000'000'000'000);
  Options options;
  options.clock = &clock;
  Database database(options);
  database.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c)) WITH gc_grace_seconds = 100");
  database.must("INSERT INTO t (k, c, v) VALUES (1, 1, 1) USING TIMESTAMP 10");
  database.must("DELETE FROM t USING TIMESTAMP 20 WHERE k = 1 AND c = 1");
  clock.advance_seconds(99);
  database.compact();
  database.must("INSERT INTO t (k, c, v) VALUES (1, 1, 3) USING TIMESTAMP 19");
  EXPECT_THAT(database.column("SELECT v FROM t"), IsEmpty());
  clock.advance_seconds(2);
  database.compact();
  EXPECT_THAT(database.column("SELECT v FROM t"), IsEmpty());
  database.must("INSERT INTO t (k, c, v) VALUES (1, 1, 4) USING TIMESTAMP 18");
  EXPECT_THAT(database.column("SELECT v FROM t"), ElementsAre("4"));
}

TEST(EngineClock, BeforeTheEpochIsAnError) {
  base::ManualClock clock(-1);
  Options options;
  options.clock = &clock;
  const auto refused = Engine::open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "The system clock shows a time before 1970");
  clock.set_micros(1'700'000'000'000'000);
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine);
  const auto ask = [&](const std::string& text) { return run_text(**engine, text, "ks"); };
  ASSERT_TRUE(
      ask("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
  ASSERT_TRUE(ask("CREATE TABLE t (k int PRIMARY KEY, v int)"));
  ASSERT_TRUE(ask("CREATE TABLE n (k int PRIMARY KEY, v counter)"));
  clock.set_micros(-1'000'000'000'000);
  for (const char* text :
       {"INSERT INTO t (k, v) VALUES (1, 1) USING TTL 100", "DELETE FROM t WHERE k = 1",
        "INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS", "UPDATE n SET v = v + 1 WHERE k = 1",
        "BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); APPLY BATCH"}) {
    const auto result = ask(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().message(), "The system clock shows a time before 1970: nothing can be written");
  }
  EXPECT_TRUE(ask("SELECT now(), count(*) FROM t"));
  clock.set_micros(1'700'000'000'000'000);
  EXPECT_TRUE(ask("INSERT INTO t (k, v) VALUES (1, 1)"));
}

}  // namespace
}  // namespace sibyl::engine
