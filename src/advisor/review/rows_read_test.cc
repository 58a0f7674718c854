// Compares the rows that a review predicts with the rows that the executor reads and returns. In the table,
// all values of a column are equally frequent, so the declared statistics are exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <random>

#include "advisor/review/test_review.h"
#include "engine/engine.h"

namespace sibyl::advisor {
namespace {

constexpr int partitions = 10, first = 6, second = 5;  // number of values of p, c and d

const char* const table =
    "CREATE TABLE t (p int, c int, d int, s int STATIC, v int, PRIMARY KEY (p, c, d));\n";
const char* const exact_statistics =
    "-- @table t rows=300 partitions=10\n-- @column t.c distinct=6\n-- @column t.d distinct=5\n"
    "-- @column t.v distinct=30\n";

class RowsReadTest : public testing::Test {
 protected:
  RowsReadTest() {
    auto opened = engine::Engine::open({});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(std::string(table).substr(0, std::string(table).size() - 2));
    for (int p = 0; p < partitions; ++p)
      for (int c = 0; c < first; ++c)
        for (int d = 0; d < second; ++d)
          run(fmt::format("INSERT INTO t (p, c, d, s, v) VALUES ({}, {}, {}, 1, {})", p, c, d,
                          c * second + d));
  }

  execute::ResultSet run(const std::string& text) {
    const auto plan = engine_->planner().plan_query(text, "k");
    EXPECT_TRUE(plan.has_value()) << text << ": " << plan.error().message();
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute(
        *plan, {}, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
    auto result = answer.get_future().get();
    EXPECT_TRUE(result.has_value()) << text;
    return std::move(*result);
  }

  // Checks that the review's numbers equal those of the executor.
  void expect_true(const std::string& query) {
    const execute::ResultSet result = run(query);
    const Review review = review_of(std::string(table) + exact_statistics + query + ";\n");
    ASSERT_EQ(review.queries.size(), 1u);
    const QueryReview& estimated = review.queries[0];
    ASSERT_TRUE(estimated.rows_read.has_value()) << query;
    EXPECT_NEAR(*estimated.rows_read, static_cast<double>(result.rows_read), 1e-6) << query;
    ASSERT_TRUE(estimated.rows_returned.has_value()) << query;
    EXPECT_NEAR(*estimated.rows_returned, static_cast<double>(result.rows.count()), 1e-6) << query;
  }

  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(RowsReadTest, CommonForms) {
  expect_true("SELECT * FROM t WHERE p = 1");
  expect_true("SELECT * FROM t WHERE p = 1 AND c = 2 AND d = 3");
  expect_true("SELECT * FROM t WHERE p = 1 AND c = 2 AND d IN (1, 2, 3)");
  expect_true("SELECT * FROM t WHERE p = 1 AND c IN (0, 1) AND d IN (1, 2, 3)");
  expect_true("SELECT * FROM t WHERE p IN (1, 2) AND c = 2 AND d IN (0, 4)");
  expect_true("SELECT * FROM t WHERE p = 1 AND (c, d) IN ((1, 2), (3, 4), (5, 0))");
  expect_true("SELECT * FROM t WHERE p = 1 AND c IN (1, 2)");
  expect_true("SELECT * FROM t WHERE p = 1 LIMIT 7");
  expect_true("SELECT * FROM t WHERE p IN (1, 2, 3) PER PARTITION LIMIT 5");
  expect_true("SELECT * FROM t PER PARTITION LIMIT 2");
  expect_true("SELECT * FROM t PER PARTITION LIMIT 2 LIMIT 5");
  expect_true("SELECT DISTINCT p, s FROM t WHERE p = 1");
  expect_true("SELECT DISTINCT p, s FROM t WHERE p IN (1, 2)");
  expect_true("SELECT DISTINCT p FROM t");
  expect_true("SELECT count(*) FROM t WHERE p = 1");
  expect_true("SELECT * FROM t WHERE p = 1 AND v = 3 ALLOW FILTERING");
  expect_true("SELECT * FROM t WHERE v = 3 ALLOW FILTERING");
  expect_true("SELECT * FROM t");
}

TEST_F(RowsReadTest, RandomForms) {
  std::mt19937_64 random(20260502);
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<uint64_t>(count)); };
  const auto list = [&](int values) {
    const int count = 1 + below(values), from = below(values - count + 1);
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", from + i);
    return "(" + text + ")";
  };
  const auto compared = [&](const char* name, int values) {
    return below(2) == 0 ? fmt::format("{} = {}", name, below(values))
                         : fmt::format("{} IN {}", name, list(values));
  };
  for (int i = 0; i < 300; ++i) {
    std::string query = "SELECT * FROM t WHERE " + compared("p", partitions);
    if (below(2) == 0) {
      query += " AND " + compared("c", first);
      if (below(2) == 0) query += " AND " + compared("d", second);
    }
    if (below(3) == 0) query += fmt::format(" PER PARTITION LIMIT {}", 1 + below(8));
    if (below(3) == 0) query += fmt::format(" LIMIT {}", 1 + below(40));
    expect_true(query);
  }
}

}  // namespace
}  // namespace sibyl::advisor
