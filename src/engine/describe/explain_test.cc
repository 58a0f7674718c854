#include "plan/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_result.h"

namespace sibyl::engine {
namespace {

using plan::Explanation;
using testing::ElementsAre;
using testing::IsEmpty;

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    auto opened = Engine::open({});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run("CREATE TABLE t (p int, q int, c int, d int, v int, l list<int>, s int STATIC, PRIMARY KEY ((p, q), "
        "c, d))");
  }

  void run(std::string_view text) { EXPECT_TRUE(run_text(*engine_, text, "k").has_value()) << text; }
  // Returns how the only table of a statement is used.
  Explanation::TableUse use(const std::string& text) {
    const auto plan = engine_->planner().plan_query("EXPLAIN " + text, "k");
    EXPECT_TRUE(plan.has_value()) << text << ": " << (plan ? "" : plan.error().message());
    if (!plan) return {};
    const auto& explain = std::get<plan::Explain>((*plan)->plan);
    EXPECT_THAT((*plan)->markers, IsEmpty());
    const auto& statement = std::get<cql::Explain>(explain.statement->node).statement;
    Explanation explanation = plan::explain(*statement, *explain.explained);
    EXPECT_FALSE(explanation.steps.empty());
    EXPECT_EQ(explanation.uses.size(), 1u);
    return explanation.uses.empty() ? Explanation::TableUse() : std::move(explanation.uses.front());
  }

 private:
  std::unique_ptr<Engine> engine_;
};

TEST_F(ExplainTest, PartitionsByKey) {
  const auto one = use("SELECT * FROM t WHERE p = 1 AND q = ? AND c > 5");
  EXPECT_EQ(one.access, Explanation::Access::partitions);
  EXPECT_EQ(one.partitions, 1u);
  EXPECT_THAT(one.clustering, ElementsAre("c > 5"));
  EXPECT_THAT(one.filters, IsEmpty());
  EXPECT_TRUE(one.reads);
  EXPECT_FALSE(one.writes);
  const auto several = use("SELECT * FROM t WHERE p IN (1, 2) AND q IN (3, 4, 5) ORDER BY c DESC");
  EXPECT_EQ(several.partitions, 6u);
  EXPECT_TRUE(several.reversed);
  EXPECT_TRUE(several.sorts);
  EXPECT_EQ(use("SELECT * FROM t WHERE p IN ? AND q = 1").partitions, std::nullopt);
  EXPECT_EQ(use("SELECT * FROM t WHERE p = 1 AND q = 1 AND c = 1 AND d IN (1, 2)").access,
            Explanation::Access::rows);
}

TEST_F(ExplainTest, ScansAndFilters) {
  const auto scan = use("SELECT * FROM t WHERE v = 1 AND c = 2 ALLOW FILTERING");
  EXPECT_EQ(scan.access, Explanation::Access::full_scan);
  EXPECT_EQ(scan.partitions, std::nullopt);
  EXPECT_THAT(scan.filters, testing::Contains("v = 1"));
  EXPECT_EQ(use("SELECT count(*) FROM t").aggregates, true);
  EXPECT_EQ(use("SELECT * FROM t WHERE token(p, q) > 5 LIMIT 3").access, Explanation::Access::token_range);
  EXPECT_TRUE(use("SELECT * FROM t LIMIT 3").has_limit);
  EXPECT_TRUE(use("SELECT p, q, c, max(v) FROM t GROUP BY p, q, c").groups);
}

TEST_F(ExplainTest, IndexesAreNamed) {
  run("CREATE INDEX by_v ON t (v)");
  const auto found = use("SELECT * FROM t WHERE v = 1");
  EXPECT_EQ(found.access, Explanation::Access::index);
  EXPECT_EQ(found.index, "by_v");
  EXPECT_TRUE(use("INSERT INTO t (p, q, c, d, v) VALUES (1, 1, 1, 1, 1)").reads);
}

TEST_F(ExplainTest, Writes) {
  const auto insert = use("INSERT INTO t (p, q, c, d, v) VALUES (1, ?, 1, 1, 1)");
  EXPECT_TRUE(insert.writes);
  EXPECT_FALSE(insert.reads);
  EXPECT_EQ(insert.partitions, 1u);
  EXPECT_THAT(insert.clustering, ElementsAre("c = 1", "d = 1"));
  EXPECT_TRUE(use("UPDATE t SET l[0] = 1 WHERE p = 1 AND q = 1 AND c = 1 AND d = 1").reads);
  EXPECT_TRUE(use("UPDATE t SET v = 1 WHERE p = 1 AND q = 1 AND c = 1 AND d = 1 IF v = 2").reads);
  EXPECT_EQ(use("DELETE FROM t WHERE p = 1 AND q IN (1, 2)").partitions, 2u);
}

}  // namespace
}  // namespace sibyl::engine
