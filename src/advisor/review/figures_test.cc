// Tests the numbers of a review: growth, spread, latency goals, views, time intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "advisor/review/buckets.h"
#include "advisor/review/test_review.h"
#include "advisor/trial/measurement.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto review = review_workloads({workload_of(text)}, {});
  return review ? "no error" : review.error().message();
}

constexpr const char* weekly = R"(
CREATE TABLE t (a int, week date, c int, PRIMARY KEY ((a, week), c));
-- @table t growth=1/s row=100
-- @column t.a distinct=1
-- @column t.week growth=1/7d
)";

TEST(ReviewFigures, PeriodsMayHaveSeveralDays) {
  const Review review = review_of(weekly);
  ASSERT_TRUE(review.tables[0].now.has_value());
  EXPECT_NEAR(review.tables[0].now->max, 60.48e6, 1e3);
}

std::string growing(const std::string& statements, const std::string& declared = "") {
  return R"(
CREATE TABLE carts (shop text, at timeuuid, item text, PRIMARY KEY (shop, at, item));
-- @table carts rows=1M partitions=1000 row=100 )" +
         declared + "\n" + statements;
}
constexpr const char* insert_500 = R"(-- @write add rate=500/s
INSERT INTO carts (shop, at, item) VALUES (?, ?, ?);
)";
constexpr const char* delete_500 = R"(-- @write remove rate=500/s
DELETE FROM carts WHERE shop = ? AND at = ? AND item = ?;
)";

TEST(ReviewFigures, GrowthIsInsertsMinusDeletes) {
  EXPECT_NE(find(review_of(growing(insert_500)), Verdict::partition_growth), nullptr);
  EXPECT_EQ(find(review_of(growing(std::string(insert_500) + delete_500)), Verdict::partition_growth),
            nullptr);
  EXPECT_EQ(find(review_of(growing(insert_500, "growth=0/s")), Verdict::partition_growth), nullptr)
      << "declared growth is used, even if it is 0";
}

TEST(ReviewFigures, OverwritesAreNotGrowth) {
  const Review review = review_of(R"(
CREATE TABLE latest (fleet text, vehicle uuid, pos text, PRIMARY KEY (fleet, vehicle));
-- @table latest rows=100k partitions=100
-- @write report rate=5000/s
INSERT INTO latest (fleet, vehicle, pos) VALUES (?, ?, ?);
)");
  EXPECT_EQ(ids(review), "");
  const Review made = review_of(R"(
CREATE TABLE orders (shop text, id uuid, body text, PRIMARY KEY (shop, id));
-- @table orders rows=100k partitions=100
-- @write order rate=5000/s
INSERT INTO orders (shop, id, body) VALUES (?, uuid(), ?);
)");
  EXPECT_NE(find(made, Verdict::partition_growth), nullptr) << "a generated key is inserted once";
}

TEST(ReviewFigures, RowsAreLimitedByTheValuesOfTheKey) {
  const Review review = review_of(R"(
CREATE TABLE seats (hall int, seat int, PRIMARY KEY (hall, seat));
-- @table seats rows=10k partitions=100 growth=100/s row=1000
-- @column seats.hall distinct=100
-- @column seats.seat distinct=500
)");
  EXPECT_EQ(ids(review), "KEY_COLLISION seats\n") << "declared new rows need new keys";
  EXPECT_NEAR(review.tables[0].horizon->p50, 500e3, 1e3);
}

TEST(ReviewFigures, ObservedGrowthIsLimitedByExistingRows) {
  Observation observation;
  observation.source = "test";
  observation.definitions = {
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE k.jobs (queue text, at timeuuid, job text, PRIMARY KEY (queue, at))"};
  ObservedTable table;
  table.keyspace = "k";
  table.name = "jobs";
  table.partitions = 1;
  table.rows = 4000;
  table.bytes = 200'000;
  table.writes = 7500;
  table.seconds = 10;
  observation.tables = {table};
  const auto shape = [&](const std::string& text, double calls) {
    ObservedShape out;
    out.id = text;
    out.text = text;
    out.keyspace = "k";
    out.table = "jobs";
    out.calls = calls;
    observation.shapes.push_back(out);
  };
  shape("INSERT INTO k.jobs (queue, at, job) VALUES (?, ?, ?)", 4000);
  shape("DELETE FROM k.jobs WHERE queue = ? AND at = ?", 3500);
  ReviewOptions options;
  options.observation = &observation;
  const auto review = review_workloads({}, options);
  ASSERT_TRUE(review.has_value()) << review.error().message();
  const TableReview& jobs = review->tables[0];
  ASSERT_FALSE(jobs.growth.empty());
  const double more = jobs.growth.back().sizes.max / jobs.growth.front().sizes.max;
  EXPECT_NEAR(more, 1 + 50.0 * jobs.horizon_seconds / 4000, 0.5);
  EXPECT_EQ(find(*review, Verdict::low_cardinality), nullptr)
      << "4,000 rows observed for ten seconds are harmless";
  // The first seconds of observation predict nothing.
  observation.tables[0].seconds = 1;
  const auto early = review_workloads({}, options);
  ASSERT_TRUE(early.has_value()) << early.error().message();
  ASSERT_FALSE(early->tables[0].growth.empty());
  EXPECT_EQ(early->tables[0].growth.back().sizes.max, early->tables[0].growth.front().sizes.max);
}

TEST(ReviewFigures, ViewsHaveTheWritesOfTheirBaseTable) {
  const Review review = review_of(R"(
CREATE TABLE base (id uuid PRIMARY KEY, state text, owner text);
CREATE MATERIALIZED VIEW by_state AS SELECT * FROM base WHERE state IS NOT NULL AND id IS NOT NULL
  PRIMARY KEY (state, id);
-- @table base rows=100M row=500
-- @column base.state distinct=3
-- @write w rate=10000/s
UPDATE base SET state = ? WHERE id = ?;
)");
  const TableReview* view = review.find_table("by_state");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->writes, 10'000);
  EXPECT_NEAR(view->row_bytes, 500, 25);
  const Finding* hot = find(review, Verdict::hot_partition);
  ASSERT_NE(hot, nullptr);
  EXPECT_EQ(hot->table, "by_state");
}

TEST(ReviewFigures, ViewsHaveTheKeysOfTheirBaseTable) {
  const Review review = review_of(R"(
CREATE TABLE log (tenant text, at timeuuid, actor text, PRIMARY KEY (tenant, at));
CREATE MATERIALIZED VIEW by_actor AS SELECT * FROM log WHERE tenant IS NOT NULL AND actor IS NOT NULL
  AND at IS NOT NULL PRIMARY KEY ((tenant, actor), at);
-- @table log rows=400M partitions=50 row=250
-- @column log.actor distinct=1000
)");
  const TableReview* view = review.find_table("by_actor");
  ASSERT_TRUE(view != nullptr && view->now);
  EXPECT_EQ(view->partitions, 50'000);
  EXPECT_NEAR(*view->bytes / 1e9, 100, 15);
}

TEST(ReviewFigures, HotReadsNameTheShareOfTheKey) {
  const Review review = review_of(R"(
CREATE TABLE config (k text PRIMARY KEY, v text);
-- @table config rows=500
-- @target nodes=6
-- @query get rate=40000/s skew=zipf(1.5)
SELECT v FROM config WHERE k = ?;
)");
  const Finding* hot = find(review, Verdict::hot_partition);
  ASSERT_NE(hot, nullptr);
  ASSERT_GE(hot->evidence.size(), 2u);
  EXPECT_EQ(hot->evidence[0].text, "40,000/s reads in total");
  EXPECT_THAT(hot->evidence[1].text, HasSubstr("39.6% of the reads on one key"));
  EXPECT_NEAR(review.tables[0].hottest_share, 0.396, 0.01);
  EXPECT_GT(review.tables[0].spread->requests, review.tables[0].spread->bytes + 0.1);
}

TEST(ReviewFigures, TimeBucketsSpreadBytesOverAllPeriodsAndRequestsOverTheCurrentOne) {
  const Review whole = review_of(R"(
CREATE TABLE events (hour timestamp, at timeuuid, PRIMARY KEY (hour, at));
-- @table events growth=10/s row=100 retention=30d
-- @column events.hour growth=1/h
-- @target nodes=6 rf=3
)");
  ASSERT_TRUE(whole.tables[0].spread.has_value());
  EXPECT_LT(whole.tables[0].spread->bytes, 1.3) << "720 partitions";
  EXPECT_NEAR(whole.tables[0].spread->requests, 2, 1e-9) << "one partition: three of six nodes";
  const Review keyed = review_of(R"(
CREATE TABLE readings (sensor uuid, month date, at timestamp, value double, PRIMARY KEY ((sensor, month), at));
-- @table readings growth=1667/s row=40 arrival=regular
-- @column readings.sensor distinct=100k
-- @column readings.month growth=1/30d
)");
  ASSERT_TRUE(keyed.tables[0].spread_doubled.has_value());
  EXPECT_LT(keyed.tables[0].spread_doubled->requests, 1.1);
  EXPECT_EQ(ids(keyed), "") << "rows at regular intervals do not collide";
}

TEST(ReviewFigures, CollisionsAreCertainOnlyWithRandomArrival) {
  const auto severity = [](const std::string& arrival) {
    const Review review = review_of(R"(
CREATE TABLE readings (sensor uuid, at timestamp, value double, PRIMARY KEY (sensor, at));
-- @target partition=10GB
-- @table readings rows=1G partitions=100k growth=1667/s row=40 )" +
                                    arrival);
    const Finding* finding = find(review, Verdict::key_collision);
    return finding == nullptr ? std::string("none") : to_string(finding->severity);
  };
  EXPECT_EQ(severity(""), "warning");
  EXPECT_EQ(severity("arrival=random"), "error");
  EXPECT_EQ(severity("arrival=regular"), "none");
}

TEST(ReviewFigures, SpansHaveABoundInPeriods) {
  const Review review = review_of(std::string(weekly) + R"(
-- @query quarter span=90d rate=1/s
SELECT * FROM t WHERE a = ? AND week = ?;
)");
  const QueryReview& query = review.queries[0];
  EXPECT_EQ(query.bound, "14");
  EXPECT_FALSE(query.exact);
  EXPECT_EQ(query.formula, "⌈90 days / 7 days⌉ + 1 periods, one request each");
  EXPECT_NEAR(*query.partitions, 90.0 / 7 + 1, 1e-9);
  EXPECT_NEAR(*query.rows_read, 90 * 86'400, 1);
  ASSERT_NE(find(review, Verdict::multi_partition), nullptr);
  EXPECT_THAT(
      error_of("CREATE TABLE p (a int PRIMARY KEY);\n-- @query q span=1d\nSELECT * FROM p WHERE a = ?;\n"),
      HasSubstr("test.cql:3: span is the time range that a SELECT reads"));
}

TEST(ReviewFigures, NoSpanExceedsItsBound) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> widths(1, 100), spans(0, 1000), begins(0, 1e6);
  for (int i = 0; i < 1000; ++i) {
    const double width = std::floor(widths(random)), span = std::floor(spans(random)), begin = begins(random);
    const double touched = std::floor((begin + span) / width) - std::floor(begin / width) + 1;
    EXPECT_LE(touched, max_periods(span, width)) << span << " " << width;
  }
  EXPECT_EQ(max_periods(10, 4), 4) << "from 3 to 13: 0, 4, 8, 12";
}

// Copies of a hot partition help only if other nodes can have them.
TEST(ReviewFigures, AHotPartitionOnOneServerNeedsNoCopies) {
  Observation observation;
  observation.source = "test";
  observation.definitions = {
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE k.t (a text PRIMARY KEY, b text)"};
  ObservedTable table;
  table.keyspace = "k";
  table.name = "t";
  table.partitions = table.rows = 3;
  table.bytes = 300;
  table.reads = 100'000;
  table.seconds = 1000;
  table.hottest_read = ObservedTable::HotPartition{"'x'", 0.9};
  observation.tables = {table};
  ReviewOptions options;
  options.observation = &observation;
  const auto hot = [&](size_t nodes) {
    observation.nodes = nodes;
    const auto review = review_workloads({}, options);
    EXPECT_TRUE(review.has_value());
    const Finding* finding = find(*review, Verdict::hot_partition);
    return finding == nullptr ? Finding() : *finding;
  };
  const Finding one = hot(1);
  EXPECT_THAT(one.message, HasSubstr("gets 90% of all requests"));
  EXPECT_THAT(one.fix, HasSubstr("Nothing needs to change on one server"));
  EXPECT_EQ(one.proposal, nullptr);
  const Finding several = hot(3);
  EXPECT_THAT(several.fix, HasSubstr("Store 3 copies of each row"));
  EXPECT_NE(several.proposal, nullptr);
}

TEST(ReviewFigures, GoalsAreComparedWithMeasurements) {
  Observation observation;
  observation.source = "test";
  observation.definitions = {
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE k.t (a text PRIMARY KEY, b text)"};
  ObservedShape shape;
  shape.id = "1234";
  shape.text = "SELECT * FROM k.t WHERE a = ?";
  shape.keyspace = "k";
  shape.table = "t";
  shape.calls = shape.partitions_read = shape.rows_read = shape.rows_returned = 1000;
  shape.latency_p50 = 20e-6;
  shape.latency_p99 = 66e-6;
  observation.shapes = {shape};
  ReviewOptions options;
  options.observation = &observation;
  const auto found = [&](const std::string& text) {
    const auto review = review_workloads({workload_of(text)}, options);
    EXPECT_TRUE(review.has_value());
    const Finding* finding = find(*review, Verdict::latency_goal);
    return finding == nullptr ? std::string("none") : finding->message;
  };
  EXPECT_EQ(found("-- @target latency=10us"), "The p99 latency is 66 us; the goal is 10 us.");
  EXPECT_EQ(found("-- @target latency=1ms"), "none");
  EXPECT_EQ(found("-- @query q slo_p50=1us\nSELECT * FROM k.t WHERE a = ?;"),
            "The p50 latency is 20 us; the goal is 1 us.");
  EXPECT_EQ(found("-- @target latency=10us\n-- @query q slo_p99=1ms\nSELECT * FROM k.t WHERE a = ?;"),
            "none");
}

constexpr const char* with_goal = R"(
CREATE TABLE t (a text PRIMARY KEY, b text);
-- @table t rows=10M row=100
-- @query one slo_p99=10ms
SELECT * FROM t WHERE a = ?;
-- @query all slo_p99=10ms
SELECT * FROM t;
)";

TEST(ReviewFigures, WithoutMeasurementsOnlyImpossibleGoalsAreReported) {
  const Review review = review_of(with_goal);
  const Finding* finding = find(review, Verdict::latency_goal);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->query, "all");
  EXPECT_EQ(finding->message, "Cannot be answered within 10 ms: reading 1 GB takes 1 second at 1 GB/s.");
  EXPECT_THAT(render_text(review, {}), HasSubstr("latency goals of one are not checked"));
}

TEST(ReviewFigures, TrialsReportGoals) {
  const Review review = review_of(with_goal);
  Measurement measurement;
  MeasuredOperation slow, fast;
  slow.name = "all";
  slow.latency_p99 = 25'200;
  fast.name = "one";
  fast.latency_p99 = 100;
  measurement.trials = {{"given", 1, 1, {slow, fast}, {}}};
  compare_with_goals(review, measurement);
  EXPECT_THAT(measurement.trials[0].notes, testing::ElementsAre("all: p99 25.2 ms is above its goal of 10 ms",
                                                                "one: p99 100 us meets its goal of 10 ms"));
}

TEST(ReviewFigures, KeyspacesWithDataCentres) {
  const Review review = review_of(R"(
CREATE KEYSPACE a WITH replication = {'class': 'NetworkTopologyStrategy', 'eu': 3, 'us': 5};
ALTER KEYSPACE a WITH replication = {'class': 'NetworkTopologyStrategy', 'eu': 2, 'us': 4};
CREATE TABLE a.t (p int PRIMARY KEY, v int);
)");
  EXPECT_EQ(review.target.replicas, 4u);
  EXPECT_THAT(
      error_of("CREATE KEYSPACE a WITH replication = {'class': 'NetworkTopologyStrategy', 'eu': 'x'};"),
      HasSubstr("For input string: \"x\""));
  EXPECT_THAT(error_of("CREATE KEYSPACE a WITH replication = {'class': 'SimpleStrategy', 'eu': '1'};"),
              HasSubstr("Unrecognized strategy option {eu}"));
}

TEST(ReviewFigures, ContainsIsEstimatedFromElements) {
  const std::string table = "CREATE TABLE products (sku text PRIMARY KEY, name text, tags set<text>);\n";
  const std::string query = "SELECT * FROM products WHERE tags CONTAINS ? ALLOW FILTERING;\n";
  const Review review = review_of(
      table + "-- @table products rows=3M\n-- @column products.tags distinct=1000 fanout=2\n" + query);
  EXPECT_NEAR(*review.queries[0].rows_returned, 6000, 1);
  EXPECT_FALSE(review_of(table + "-- @table products rows=3M\n" + query).queries[0].rows_returned);
  const Finding* scan = find(review, Verdict::full_scan);
  ASSERT_NE(scan, nullptr);
  EXPECT_THAT(scan->cql, HasSubstr("CREATE TABLE products_by_tag ("));
  EXPECT_THAT(scan->cql, HasSubstr("PRIMARY KEY (tag, sku)"));
  const Review fixed =
      review_of(scan->cql +
                "-- @table products_by_tag rows=6M partitions=1000\nSELECT * FROM products_by_tag WHERE "
                "tag = ?;\n");
  EXPECT_EQ(ids(fixed), "");
}

TEST(ReviewFigures, ContradictoryNumbersAreRejected) {
  const std::string table = "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c));\n";
  EXPECT_THAT(error_of(table + "-- @table t rows=5 partitions=100\n"),
              HasSubstr("test.cql:2: t has fewer rows (5) than partitions (100)"));
  EXPECT_THAT(error_of(table + "-- @table t p50=10 p99=5\n"), HasSubstr("test.cql:2: p50 is above p99"));
  EXPECT_THAT(error_of(table + "-- @table t rows=50 max=100\n"),
              HasSubstr("more rows (100) than the table (50)"));
}

TEST(ReviewFigures, QuantilesOfColumnsAreUsed) {
  const std::string table = "CREATE TABLE t (a text, b text, c int, PRIMARY KEY (a, b, c));\n";
  const Review review = review_of(
      table + "-- @table t rows=10M row=100\n-- @column t.a distinct=1000 p50=10 p99=50000 max=5M\n");
  ASSERT_TRUE(review.tables[0].now.has_value());
  EXPECT_NEAR(review.tables[0].now->max, 500e6, 1);
  EXPECT_NEAR(review.tables[0].now->p50, 1000, 1);
  const std::string two = "CREATE TABLE t (a text, b text, c int, PRIMARY KEY ((a, b), c));\n";
  const Review uneven = review_of(
      two + "-- @table t rows=10M row=100\n-- @column t.a distinct=1000 max=5M\n-- @column t.b distinct=1\n");
  EXPECT_NEAR(uneven.tables[0].now->max, 500e6, 5e6);
  EXPECT_THAT(error_of(table + "-- @column t.b max=10\n"),
              HasSubstr("test.cql:2: p50, p99 and max are rows"));
}

TEST(ReviewFigures, ReversedTablesChangeUnorderedReads) {
  const Review review = review_of(R"(
CREATE TABLE readings (sensor uuid, at timeuuid, value double, PRIMARY KEY (sensor, at));
-- @query newest
SELECT * FROM readings WHERE sensor = ? ORDER BY at DESC LIMIT 100;
-- @query day
SELECT * FROM readings WHERE sensor = ? AND at >= ? AND at < ?;
)");
  const Finding* order = find(review, Verdict::order_mismatch);
  ASSERT_NE(order, nullptr);
  EXPECT_THAT(order->cost, HasSubstr("Without an ORDER BY, the rows of day then come in reverse order"));
}

TEST(ReviewFigures, ReportsNameTheShareOfTheHottestKey) {
  EXPECT_THAT(render_text(review_of("CREATE TABLE t (p int, c int, PRIMARY KEY (p, c));\n-- @table t rows=1M "
                                    "partitions=1000\n"),
                          {}),
              HasSubstr("hottest key 0.1%"));
}

}  // namespace
}  // namespace sibyl::advisor
