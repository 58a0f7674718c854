// Prepared statements and schema changes: which changes make clients prepare again, and what happens to
// requests in flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/engine.h"
#include "engine/test_result.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using types::ValueView;

class InvalidationTest : public testing::Test {
 protected:
  InvalidationTest() {
    Options options;
    options.data = ":memory:";
    auto engine = Engine::open(options);
    EXPECT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
    must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE TYPE part (a int)");
    must("CREATE TYPE whole (p frozen<part>)");
    must("CREATE TABLE t (k int PRIMARY KEY, v int, w frozen<whole>)");
    must("CREATE TABLE other (k int PRIMARY KEY, v int)");
    must("CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a + 1'");
    must("CREATE FUNCTION s (a int, v int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a + v'");
    must("CREATE AGGREGATE total (int) SFUNC s STYPE int INITCOND 0");
    must("INSERT INTO t (k, v, w) VALUES (1, 10, {p: {a: 5}})");
  }

  base::Result<execute::ResultSet> run(std::string_view text) {
    auto plan = engine_->planner().plan_query(text, "ks");
    if (!plan) return base::fail(plan.error());
    return run_plan(*engine_, *plan, {});
  }
  void must(std::string_view text) {
    const auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text << ": " << result.error().message();
  }
  std::vector<std::string> rows(std::string_view text) { return lines(run(text)); }
  static std::vector<std::string> lines(const base::Result<execute::ResultSet>& result) {
    return result ? lines_of(*result) : std::vector<std::string>{"error: " + result.error().message()};
  }

  PreparedStatement prepare(std::string_view text) {
    auto prepared = engine_->planner().prepare(text, "ks");
    EXPECT_TRUE(prepared.has_value()) << text << ": " << prepared.error().message();
    return std::move(*prepared);
  }
  bool is_kept(const PreparedStatement& statement) {
    const auto found = engine_->planner().find_prepared(statement.id);
    if (!found) {
      EXPECT_EQ(found.error().code(), base::ErrorCode::unprepared);
      EXPECT_EQ(found.error().details().statement_id, statement.id);
    }
    return found.has_value();
  }
  size_t listed(const PreparedStatement& statement) {
    return rows("SELECT query_string FROM system.prepared_statements WHERE prepared_id = 0x" +
                base::to_hex(statement.id))
        .size();
  }
  // Returns true if the change makes clients prepare the statement again.
  bool invalidates(std::string_view change, std::string_view text) {
    const auto statement = prepare(text);
    EXPECT_EQ(listed(statement), 1u);
    must(change);
    const size_t left = listed(statement);
    const bool kept = is_kept(statement);
    EXPECT_EQ(left, kept ? 1u : 0u) << change;
    return !kept;
  }

  std::unique_ptr<Engine> engine_;
};

TEST_F(InvalidationTest, ChangesOfColumnsInvalidate) {
  const std::string read = "SELECT * FROM t WHERE k = 1", write = "INSERT INTO t (k, v) VALUES (?, ?)";
  for (const std::string& text : {read, write, "BEGIN BATCH " + write + " APPLY BATCH"}) {
    EXPECT_TRUE(invalidates("ALTER TABLE t ADD x int", text)) << text;
    EXPECT_TRUE(invalidates("ALTER TABLE t DROP x", text)) << text;
    EXPECT_TRUE(invalidates("ALTER TABLE t WITH default_time_to_live = 1000", text)) << text;
    EXPECT_TRUE(invalidates("ALTER TABLE t WITH gc_grace_seconds = 1000", text)) << text;
    must("ALTER TABLE t WITH default_time_to_live = 0 AND gc_grace_seconds = 100");
    EXPECT_TRUE(invalidates("CREATE INDEX by_v ON t (v)", text)) << text;
    EXPECT_TRUE(invalidates("DROP INDEX by_v", text)) << text;
  }
  EXPECT_TRUE(invalidates("ALTER TABLE other RENAME k TO key", "SELECT v FROM other"));
}

TEST_F(InvalidationTest, OtherChangesOfTablesDoNot) {
  for (const std::string text : {"SELECT * FROM t WHERE k = 1", "INSERT INTO t (k, v) VALUES (?, ?)"}) {
    EXPECT_FALSE(invalidates("ALTER TABLE t WITH comment = 'new'", text)) << text;
    EXPECT_FALSE(invalidates("ALTER TABLE t WITH compaction = {'class': 'LeveledCompactionStrategy'}", text));
    must("ALTER TABLE t WITH comment = ''");
    EXPECT_FALSE(
        invalidates("CREATE MATERIALIZED VIEW by_k AS SELECT k, v FROM t WHERE k IS NOT NULL "
                    "PRIMARY KEY (k)",
                    text));
    EXPECT_FALSE(invalidates("DROP MATERIALIZED VIEW by_k", text)) << text;
    EXPECT_FALSE(invalidates("ALTER KEYSPACE ks WITH durable_writes = true", text)) << text;
    EXPECT_FALSE(invalidates("ALTER TABLE other ADD x int", text)) << text;
    must("ALTER TABLE other DROP x");
    EXPECT_FALSE(invalidates("CREATE TABLE third (k int PRIMARY KEY)", text)) << text;
    must("DROP TABLE third");
    EXPECT_FALSE(invalidates("TRUNCATE t", text)) << text;
  }
}

TEST_F(InvalidationTest, AStatementThatIsKeptUsesTheNewTable) {
  const auto insert = prepare("INSERT INTO t (k, v) VALUES (7, 70)");
  must(
      "CREATE MATERIALIZED VIEW by_v AS SELECT v, k FROM t WHERE v IS NOT NULL AND k IS NOT NULL "
      "PRIMARY KEY (v, k)");
  // A plan that a request took before the change also works.
  EXPECT_TRUE(run_plan(*engine_, insert.plan, {}).has_value());
  EXPECT_THAT(rows("SELECT k FROM by_v WHERE v = 70"), ElementsAre("7"));
  must("DELETE FROM t WHERE k = 7");
  EXPECT_TRUE(run_plan(*engine_, *engine_->planner().find_prepared(insert.id), {}).has_value());
  EXPECT_THAT(rows("SELECT k FROM by_v WHERE v = 70"), ElementsAre("7"));
}

TEST_F(InvalidationTest, DroppedAndCreatedAgain) {
  const std::string read = "SELECT k FROM other", write = "INSERT INTO other (k) VALUES (?)";
  EXPECT_TRUE(invalidates("DROP TABLE other", read));
  must("CREATE TABLE other (k int PRIMARY KEY, v int)");
  const auto first = prepare(write);
  must("DROP TABLE other");
  must("CREATE TABLE other (k int PRIMARY KEY, v int)");
  EXPECT_FALSE(is_kept(first));
  EXPECT_TRUE(invalidates("DROP KEYSPACE ks", "SELECT * FROM ks.t"));
}

TEST_F(InvalidationTest, ViewsLikeTables) {
  must(
      "CREATE MATERIALIZED VIEW by_v AS SELECT * FROM t WHERE v IS NOT NULL AND k IS NOT NULL "
      "PRIMARY KEY (v, k)");
  EXPECT_FALSE(invalidates("ALTER MATERIALIZED VIEW by_v WITH comment = 'x'", "SELECT * FROM by_v"));
  EXPECT_TRUE(invalidates("ALTER TABLE t ADD x int", "SELECT * FROM by_v"));
  EXPECT_TRUE(invalidates("DROP MATERIALIZED VIEW by_v", "SELECT * FROM by_v"));
}

TEST_F(InvalidationTest, UserTypesAtAnyDepth) {
  for (const std::string text :
       {"SELECT w FROM t", "INSERT INTO t (k, w) VALUES (?, ?)", "SELECT k FROM t"}) {
    EXPECT_TRUE(invalidates("ALTER TYPE part ADD b text", text)) << text;
    EXPECT_TRUE(invalidates("ALTER TYPE part RENAME a TO c", text)) << text;
    must("ALTER TYPE part RENAME c TO a AND b TO d");
    must("DROP TABLE t");
    must("DROP TYPE whole");
    must("DROP TYPE part");
    must("CREATE TYPE part (a int)");
    must("CREATE TYPE whole (p frozen<part>)");
    must("CREATE TABLE t (k int PRIMARY KEY, v int, w frozen<whole>)");
  }
  // The types are named only in the statement.
  EXPECT_TRUE(invalidates("ALTER TYPE part ADD b text", "SELECT (frozen<part>){a: 1} FROM other"));
  must("CREATE TYPE single (a int)");
  EXPECT_TRUE(invalidates("DROP TYPE single", "SELECT (frozen<single>){a: 1} FROM other"));
  EXPECT_FALSE(invalidates("CREATE TYPE unused (a int)", "SELECT (frozen<part>){a: 1} FROM other"));
}

TEST_F(InvalidationTest, FunctionsAndAggregates) {
  const std::string again =
      "CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a - 1'";
  const std::string text = "SELECT f(v) FROM t WHERE k = 1";
  EXPECT_TRUE(prepare(text).plan->profile.may_block);
  EXPECT_TRUE(invalidates(again, text));
  EXPECT_THAT(lines(run_plan(*engine_, prepare(text).plan, {})), ElementsAre("9"));
  EXPECT_TRUE(invalidates(
      "CREATE FUNCTION f (a text) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 1'", text));
  EXPECT_TRUE(invalidates("DROP FUNCTION f (text)", text));
  EXPECT_FALSE(invalidates(
      "CREATE FUNCTION g (a text) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 1'", text));
  EXPECT_TRUE(invalidates("DROP FUNCTION f", text));
  // An aggregate depends on its functions.
  EXPECT_TRUE(
      invalidates("CREATE OR REPLACE FUNCTION s (a int, v int) CALLED ON NULL INPUT RETURNS int LANGUAGE "
                  "lua AS 'return a - v'",
                  "SELECT total(v) FROM t"));
  EXPECT_THAT(lines(run_plan(*engine_, prepare("SELECT total(v) FROM t").plan, {})), ElementsAre("-10"));
  EXPECT_TRUE(invalidates("DROP AGGREGATE total", "SELECT total(v) FROM t"));
  // Definitions may now mean a native function, or an overload that fits better.
  EXPECT_TRUE(
      invalidates("CREATE FUNCTION abs (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 7'",
                  "SELECT abs(v) FROM t WHERE k = 1"));
  EXPECT_THAT(rows("SELECT abs(v) FROM t WHERE k = 1"), ElementsAre("7"));
}

TEST_F(InvalidationTest, OtherStatementsAreNotInvalidated) {
  EXPECT_FALSE(invalidates("ALTER TABLE t ADD x int", "TRUNCATE t"));
  EXPECT_FALSE(invalidates("ALTER TABLE t DROP x", "EXPLAIN SELECT * FROM t"));
  EXPECT_FALSE(invalidates("ALTER TABLE t ADD y int", "USE ks"));
}

// The request took its plan before the change.
TEST_F(InvalidationTest, AWriteInFlightIsNotBoundToOtherTypes) {
  const auto insert = prepare("INSERT INTO other (k, v) VALUES (?, ?)");
  const std::string one = types::encode_int32(1);
  const std::vector<ValueView> values = {ValueView::of(one), ValueView::of(one)};
  execute::Request request;
  request.values = values;
  must("DROP TABLE other");
  must("CREATE TABLE other (k int PRIMARY KEY, v float)");
  for (int i = 0; i < 2; ++i) {
    const auto result = run_plan(*engine_, insert.plan, request);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), base::ErrorCode::unprepared);
    EXPECT_EQ(result.error().details().statement_id, insert.id);
  }
  EXPECT_THAT(rows("SELECT * FROM other"), IsEmpty());
  // A statement sent as text has no id. The server reads its values with the current types.
  auto text = engine_->planner().plan_query("INSERT INTO other (k, v) VALUES (?, ?)", "ks");
  must("ALTER TABLE other ADD x int");
  EXPECT_TRUE(run_plan(*engine_, *text, request).has_value());
}

TEST_F(InvalidationTest, ASelectInFlightKeepsItsColumns) {
  const auto select = prepare("SELECT * FROM other");
  must("INSERT INTO other (k, v) VALUES (1, 2)");
  must("ALTER TABLE other ADD a int");
  const auto result = run_plan(*engine_, select.plan, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->metadata, select.plan->result);
  EXPECT_THAT(lines(result), ElementsAre("1|2"));
  EXPECT_THAT(lines(run_plan(*engine_, prepare("SELECT * FROM other").plan, {})), ElementsAre("1|null|2"));
}

TEST_F(InvalidationTest, DroppedIndexesAreNotUsed) {
  must("CREATE INDEX by_v ON other (v)");
  must("INSERT INTO other (k, v) VALUES (1, 2)");
  const auto select = prepare("SELECT k FROM other WHERE v = 2");
  EXPECT_THAT(lines(run_plan(*engine_, select.plan, {})), ElementsAre("1"));
  must("DROP INDEX by_v");
  const auto result = run_plan(*engine_, select.plan, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), base::ErrorCode::unprepared);
}

TEST_F(InvalidationTest, ResultIdsCoverFieldsAtAnyDepth) {
  const std::string text = "SELECT w FROM t";
  const auto first = prepare(text).plan->result_id;
  EXPECT_EQ(prepare(text).plan->result_id, first);
  must("ALTER TYPE part ADD b text");
  const auto added = prepare(text).plan->result_id;
  EXPECT_NE(added, first);
  must("ALTER TYPE part RENAME b TO c");
  EXPECT_NE(prepare(text).plan->result_id, added);
}

TEST_F(InvalidationTest, RedefinitionsAreReported) {
  const std::string all = "SELECT * FROM t", one = "SELECT v FROM t",
                    insert = "INSERT INTO t (k, w) VALUES (?, ?)";
  for (const std::string& text : {all, one, insert}) EXPECT_EQ(prepare(text).plan->redefinition, nullptr);
  must("ALTER TABLE t ADD a int");
  const auto redefined = prepare(all).plan->redefinition;
  ASSERT_NE(redefined, nullptr);
  EXPECT_EQ(redefined->prepares, 1u);
  EXPECT_EQ(prepare(all).plan->redefinition, redefined);
  EXPECT_EQ(redefined->prepares, 2u);
  // For these statements, the metadata that clients have is still valid.
  EXPECT_EQ(prepare(one).plan->redefinition, nullptr);
  EXPECT_EQ(prepare(insert).plan->redefinition, nullptr);
  must("ALTER TYPE part ADD b int");
  EXPECT_NE(prepare(insert).plan->redefinition, nullptr);
  EXPECT_NE(prepare(all).plan->redefinition, redefined);
  const auto newest = prepare(all).plan->redefinition;
  must("ALTER TABLE t WITH gc_grace_seconds = 7");
  EXPECT_EQ(prepare(all).plan->redefinition, newest);
}

// Texts that are repeated are planned for the newest schema as well.
TEST_F(InvalidationTest, RepeatedTexts) {
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(rows("SELECT * FROM t WHERE k = 1"), ElementsAre("1|10|{p: {a: 5}}"));
  must("ALTER TABLE t ADD a int");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(rows("SELECT * FROM t WHERE k = 1"), ElementsAre("1|null|10|{p: {a: 5}}"));
  must("DROP TABLE t");
  EXPECT_THAT(rows("SELECT * FROM t WHERE k = 1"), ElementsAre("error: table t does not exist"));
}

// PREPARE races with the change. An invalid plan is never found afterwards, and none stays in the cache.
TEST_F(InvalidationTest, PreparingWhileTheTableChanges) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!done) {
        const auto prepared = engine_->planner().prepare("SELECT * FROM other", "ks");
        if (!prepared) continue;
        const auto found = engine_->planner().find_prepared(prepared->id);
        if (found) {
          EXPECT_TRUE(run_plan(*engine_, *found, {}).has_value());
        }
      }
    });
  for (int i = 0; i < 100; ++i) {
    must("ALTER TABLE other ADD x int");
    must("ALTER TABLE other DROP x");
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  must("ALTER TABLE other ADD last int");
  const auto found = engine_->planner().find_prepared(prepare("SELECT * FROM other").id);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->result->columns.size(), 3u);
  must("DROP TABLE other");
  EXPECT_THAT(rows("SELECT query_string FROM system.prepared_statements"), IsEmpty());
}

}  // namespace
}  // namespace sibyl::engine
