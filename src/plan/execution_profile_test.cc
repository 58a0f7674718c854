#include "plan/execution_profile.h"

#include <gtest/gtest.h>

#include "cql/parser.h"
#include "plan/definitions/definitions.h"
#include "plan/prepared.h"

namespace sibyl::plan {
namespace {

class ExecutionProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    define("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    define("CREATE TABLE t (k int, c int, v int, d decimal, l list<int>, PRIMARY KEY (k, c))");
    define("CREATE TABLE indexed (k int PRIMARY KEY, v int)");
    define("CREATE INDEX ON indexed (v)");
    define("CREATE TABLE counts (k int PRIMARY KEY, n counter)");
  }
  void define(const std::string& text) {
    const auto statement = cql::parse_statement(text);
    ASSERT_TRUE(statement) << statement.error().message();
    auto defined = plan::define(**statement, schema_, {"e", 1});
    ASSERT_TRUE(defined) << defined.error().message();
    schema_ = defined->schema;
  }
  ExecutionProfile profile(const std::string& text) {
    auto statement = cql::parse_statement(text);
    EXPECT_TRUE(statement) << text;
    const auto prepared =
        prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, "e", schema_);
    EXPECT_TRUE(prepared) << text << ": " << prepared.error().message();
    return prepared ? (*prepared)->profile : ExecutionProfile{};
  }

  schema::SnapshotPtr schema_ = std::make_shared<schema::Snapshot>();
};

TEST_F(ExecutionProfileTest, KindsAndWhetherAStatementMayBlock) {
  using Kind = StatementKind;
  const struct {
    const char* text;
    Kind kind;
    bool may_block;
  } cases[] = {
      {"SELECT * FROM t WHERE k = 1", Kind::select, false},
      {"SELECT * FROM t WHERE k = 1 AND c = 2", Kind::select, false},
      {"SELECT * FROM t WHERE k IN (1, 2)", Kind::select, true},
      {"SELECT * FROM t WHERE k = 1 AND c IN (1, 2)", Kind::select, true},
      {"SELECT * FROM t WHERE k = 1 AND v = 2 ALLOW FILTERING", Kind::select, true},
      {"SELECT count(*) FROM t WHERE k = 1", Kind::select, true},
      {"SELECT count(*) FROM t WHERE k = 1 AND c = 2", Kind::select, false},
      {"SELECT * FROM t", Kind::scan, true},
      {"SELECT * FROM indexed WHERE v = 1", Kind::scan, true},
      {"INSERT INTO t (k, c, v) VALUES (1, 2, 3)", Kind::insert, false},
      {"UPDATE t SET v = 1 WHERE k = 1 AND c = 2", Kind::update, false},
      {"UPDATE t SET v = 1 WHERE k IN (1, 2) AND c = 2", Kind::update, true},
      {"UPDATE t SET l[0] = 1 WHERE k = 1 AND c = 2", Kind::update, true},
      {"DELETE FROM t WHERE k = 1", Kind::delete_, false},
      {"INSERT INTO indexed (k, v) VALUES (1, 2)", Kind::insert, true},
      {"INSERT INTO t (k, c) VALUES (1, 2) IF NOT EXISTS", Kind::conditional, true},
      {"UPDATE counts SET n = n + 1 WHERE k = 1", Kind::counter, true},
      {"BEGIN BATCH INSERT INTO t (k, c) VALUES (1, 2); APPLY BATCH", Kind::batch, false},
      {"BEGIN BATCH INSERT INTO indexed (k) VALUES (1); APPLY BATCH", Kind::batch, true},
      {"TRUNCATE t", Kind::truncate, true},
      {"CREATE TABLE u (k int PRIMARY KEY)", Kind::definition, true},
      {"DESCRIBE TABLES", Kind::other, true},
      {"USE e", Kind::other, false},
      {"EXPLAIN SELECT * FROM t", Kind::other, false},
  };
  for (const auto& one : cases) {
    const ExecutionProfile found = profile(one.text);
    EXPECT_STREQ(to_string(found.kind), to_string(one.kind)) << one.text;
    EXPECT_EQ(found.may_block, one.may_block) << one.text;
  }
}

TEST_F(ExecutionProfileTest, DeadlinesFollowThePartitionsRead) {
  using Deadline = ExecutionProfile::Deadline;
  EXPECT_EQ(profile("SELECT * FROM t WHERE k = 1").deadline, Deadline::read);
  EXPECT_EQ(profile("SELECT * FROM t").deadline, Deadline::range);
  EXPECT_EQ(profile("SELECT count(*) FROM t").deadline, Deadline::none);
  EXPECT_EQ(profile("INSERT INTO t (k, c) VALUES (1, 2)").deadline, Deadline::read);
}

TEST_F(ExecutionProfileTest, ReadsOfUserTablesMayRunLong) {
  EXPECT_TRUE(profile("SELECT * FROM t WHERE k = 1").may_run_long);
  EXPECT_FALSE(profile("INSERT INTO t (k, c) VALUES (1, 2)").may_run_long);
}

TEST_F(ExecutionProfileTest, SlicesAreRangesOfRows) {
  EXPECT_TRUE(profile("SELECT * FROM t WHERE k = 1").reads_slice);
  EXPECT_FALSE(profile("SELECT * FROM t WHERE k = 1 AND c = 2").reads_slice);
}

TEST_F(ExecutionProfileTest, CalculatingWithLongNumbersIsComputeHeavy) {
  EXPECT_TRUE(profile("SELECT d * d FROM t WHERE k = 1").is_compute_heavy);
  EXPECT_FALSE(profile("SELECT d, v * v FROM t WHERE k = 1").is_compute_heavy);
}

TEST_F(ExecutionProfileTest, BatchesKeepTheirShape) {
  const ExecutionProfile found = profile(
      "BEGIN UNLOGGED BATCH INSERT INTO t (k, c) VALUES (1, 2) IF NOT EXISTS; UPDATE t SET v = 1 WHERE k = 1 "
      "AND c = "
      "3; APPLY BATCH");
  EXPECT_TRUE(found.is_conditional);
  EXPECT_TRUE(found.is_write());
  EXPECT_EQ(found.batch_kind, cql::Batch::Kind::unlogged);
  EXPECT_EQ(found.batch_statements, 2u);
}

TEST_F(ExecutionProfileTest, StatementsAboutRolesAreDefinitions) {
  EXPECT_TRUE(profile("LIST ROLES").is_about_roles);
  EXPECT_FALSE(profile("DROP TABLE t").is_about_roles);
}

}  // namespace
}  // namespace sibyl::plan
