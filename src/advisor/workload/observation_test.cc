// Tests of reviews of an observed database.
#include "advisor/workload/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "advisor/review/review_model.h"
#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

constexpr double day = 86'400;

// A shop: `joins` is clustered and grows; `people` is only looked up by key.
Observation shop() {
  Observation out;
  out.source = "127.0.0.1:9042";
  out.definitions = {
      "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE shop.people (id uuid PRIMARY KEY, city text, age int)",
      "CREATE TABLE shop.joins (groupname text, joined timeuuid, username text, PRIMARY KEY (groupname, "
      "joined))"};
  ObservedTable people;
  people.keyspace = "shop";
  people.name = "people";
  people.partitions = people.rows = 2e6;
  people.bytes = 160e6;
  people.partition_rows = {1, 1, 1};
  people.partition_bytes = {80, 90, 400};
  people.reads = 3e6;
  people.writes = 2e6;
  people.seconds = 30 * day;
  ObservedTable joins;
  joins.keyspace = "shop";
  joins.name = "joins";
  joins.partitions = 1000;
  joins.rows = 1e6;
  joins.bytes = 100e6;
  joins.partition_rows = {500, 20'000, 100'000};
  joins.partition_bytes = {50e3, 2e6, 11e6};
  joins.reads = 100;
  joins.writes = 1e6;
  joins.seconds = 30 * day;
  out.tables = {people, joins};
  return out;
}

ObservedShape shape(std::string text, const char* table, double calls) {
  ObservedShape out;
  out.id = "0123456789abcdef";
  out.text = std::move(text);
  out.keyspace = "shop";
  out.table = table;
  out.calls = calls;
  out.partitions_read = calls;
  out.rows_read = out.rows_returned = calls;
  out.partitions_max = 1;
  out.since_first = 30 * day;
  return out;
}

Review review_of(const Observation& observation, const std::string& file = {}) {
  std::vector<Workload> workloads;
  if (!file.empty()) {
    workloads.push_back(workload_of(file, "declared.cql"));
  }
  ReviewOptions options;
  options.observation = &observation;
  auto review = review_workloads(workloads, options);
  EXPECT_TRUE(review) << review.error().message();
  return review ? std::move(*review) : Review{};
}

std::string measured(const Finding& finding) {
  std::string out;
  for (const Evidence& evidence : finding.evidence)
    if (evidence.origin == Origin::measured) out += evidence.text + "\n";
  return out;
}

TEST(Observation, GoodModelHasNoFindings) {
  Observation good = shop();
  good.shapes = {shape("SELECT * FROM shop.people WHERE id = ?", "people", 3e6)};
  const Review review = review_of(good);
  EXPECT_EQ(ids(review), "");
  EXPECT_TRUE(review.internal_errors.empty());
  EXPECT_THAT(render_text(review, {}), HasSubstr("as observed in 127.0.0.1:9042"));
  const TableReview* people = review.find_table("shop.people");
  ASSERT_NE(people, nullptr);
  EXPECT_EQ(people->origin, Origin::measured);
  EXPECT_EQ(people->rows, 2e6);
  EXPECT_EQ(people->row_bytes, 80);
  EXPECT_NEAR(people->reads, 3e6 / (30 * day), 1e-9);
  EXPECT_EQ(people->now->max, 400);
  const TableReview* joins = review.find_table("shop.joins");
  EXPECT_EQ(joins->now->p50, 50e3);
  EXPECT_EQ(joins->now->max, 11e6);
  EXPECT_EQ(review.find_query("by_id")->bound, "1");
  EXPECT_EQ(review.find_query("by_id")->rows_read, 1);
}

TEST(Observation, ScansHaveTheirRowsAsEvidence) {
  Observation observation = shop();
  ObservedShape scan = shape("SELECT * FROM shop.people WHERE city = ? ALLOW FILTERING", "people", 100);
  scan.rows_read = 100 * 2e6;
  scan.rows_returned = 100 * 50;
  scan.partitions_max = 2e6;
  ObservedShape page = shape("SELECT * FROM shop.people LIMIT ?", "people", 100);
  page.rows_read = page.rows_returned = 100 * 20;
  page.partitions_max = 20;
  observation.shapes = {scan, page};
  const Review review = review_of(observation);
  EXPECT_EQ(ids(review), "FULL_SCAN shop.people/by_city\n");
  const Finding& finding = review.findings[0];
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.place(), "127.0.0.1:9042");
  EXPECT_THAT(measured(finding), HasSubstr(scan.text));
  EXPECT_THAT(measured(finding), HasSubstr("2M rows in the table"));
  EXPECT_THAT(measured(finding), HasSubstr("2M rows read for 50 returned"));
  EXPECT_THAT(measured(finding), HasSubstr("runs 3.3/d"));
  EXPECT_THAT(finding.cql, HasSubstr("people_by_city"));
  EXPECT_TRUE(review.internal_errors.empty());
}

TEST(Observation, LargePartitionsAndHotKeys) {
  Observation observation = shop();
  observation.tables[1].hottest_write = {"'acme'", 0.4};
  observation.tables[1].hottest_read = {"'acme'", 0.1};
  observation.shapes = {
      shape("INSERT INTO shop.joins (groupname, joined, username) VALUES (?, ?, ?)", "joins", 1e6)};
  const Review review = review_of(observation, "-- @target partition=10MB partition_rate=10/h");
  const Finding* growth = find(review, Verdict::partition_growth);
  ASSERT_NE(growth, nullptr) << ids(review);
  EXPECT_EQ(growth->severity, Severity::error);
  EXPECT_THAT(growth->message, HasSubstr("holds 11 MB"));
  EXPECT_THAT(measured(*growth), HasSubstr("p50 50 kB, p99 2 MB, largest 11 MB now"));
  EXPECT_THAT(measured(*growth), HasSubstr("new rows, observed for 30 days"));
  EXPECT_FALSE(growth->cql.empty());
  const Finding* hot = find(review, Verdict::hot_partition);
  ASSERT_NE(hot, nullptr) << ids(review);
  EXPECT_THAT(measured(*hot), HasSubstr("40% of the writes on 'acme'"));
  EXPECT_EQ(review.find_table("shop.joins")->hottest_write, "'acme'");
}

// A year cannot be predicted from a minute, but existing sizes are reported.
TEST(Observation, GrowthOfAShortObservationIsANote) {
  Observation observation = shop();
  observation.tables[1].seconds = 60;
  observation.shapes = {
      shape("INSERT INTO shop.joins (groupname, joined, username) VALUES (?, ?, ?)", "joins", 1e6)};
  const Review review = review_of(observation);
  const Finding* growth = find(review, Verdict::partition_growth);
  ASSERT_NE(growth, nullptr) << ids(review);
  EXPECT_EQ(growth->severity, Severity::note);
  EXPECT_EQ(find(review_of(observation, "-- @target partition=10MB"), Verdict::partition_growth)->severity,
            Severity::error);
}

// Overwriting rows does not make the table grow.
TEST(Observation, OverwritesAreNotGrowth) {
  Observation observation = shop();
  observation.tables[1].rows = 1000;
  observation.tables[1].bytes = 100e3;
  observation.tables[1].partition_rows = {1, 1, 2};
  observation.tables[1].partition_bytes = {100, 100, 200};
  observation.shapes = {
      shape("INSERT INTO shop.joins (groupname, joined, username) VALUES (?, ?, ?)", "joins", 1e9)};
  const Review review = review_of(observation);
  EXPECT_EQ(find(review, Verdict::partition_growth), nullptr) << ids(review);
}

TEST(Observation, DeclarationsWin) {
  Observation observation = shop();
  observation.shapes = {shape("SELECT * FROM shop.joins WHERE groupname = ? LIMIT ?", "joins", 100)};
  const std::string file = R"(
CREATE TABLE joins (groupname text, joined timeuuid, username text, PRIMARY KEY (groupname, joined));
-- @table joins rows=100M partitions=1000
-- @target partition=5MB horizon=1d
-- @query newest rate=7/s
select * from joins where groupname = 'x' limit 10;
)";
  const Review review = review_of(observation, file);
  EXPECT_EQ(review.tables.size(), 2u);
  const TableReview* joins = review.find_table("shop.joins");
  ASSERT_NE(joins, nullptr);
  EXPECT_EQ(joins->origin, Origin::declared);
  EXPECT_EQ(joins->rows, 100e6);
  EXPECT_GT(joins->now->max, 0.9e9) << "with the measured skew";
  EXPECT_EQ(review.target.horizon, day);
  ASSERT_EQ(review.queries.size(), 1u);
  EXPECT_EQ(review.queries[0].name, "newest");
  EXPECT_EQ(review.queries[0].rate, 7);
  EXPECT_EQ(review.queries[0].calls, 100);
  EXPECT_EQ(review.queries[0].file, "declared.cql");
  EXPECT_NE(find(review, Verdict::partition_growth), nullptr) << ids(review);
}

TEST(Observation, ViolatedBoundIsAnInternalError) {
  Observation observation = shop();
  ObservedShape list = shape("SELECT * FROM shop.people WHERE id IN (uuid(), uuid(), ?)", "people", 10);
  list.partitions_max = 3;
  ObservedShape wrong = shape("SELECT * FROM shop.people WHERE id = ?", "people", 10);
  wrong.partitions_max = 2;
  ObservedShape any = shape("SELECT * FROM shop.people WHERE id IN ?", "people", 10);
  any.partitions_max = 500;
  any.partitions_read = 5000;
  observation.shapes = {list, wrong, any};
  const Review review = review_of(observation);
  ASSERT_EQ(review.internal_errors.size(), 1u);
  EXPECT_THAT(review.internal_errors[0], HasSubstr("WHERE id = ?"));
  EXPECT_THAT(render_text(review, {}),
              HasSubstr("internal error the plan proves that this statement reads at most 1 partitions"));
  EXPECT_THAT(render_markdown(review), HasSubstr("Internal errors"));
  EXPECT_EQ(boost::json::parse(render_json(review)).at("internal_errors").as_array().size(), 1u);
  // The observed calls show how many values the list has.
  const Finding* finding = find(review, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_THAT(measured(*finding), HasSubstr("500 partitions: one per value of IN"));
}

TEST(Observation, PartitionsOfWritesStayUnknown) {
  Observation observation = shop();
  ObservedShape list = shape("DELETE FROM shop.people WHERE id IN ?", "people", 10);
  list.partitions_read = 0;
  list.partitions_max = 400;
  observation.shapes = {list};
  const Review review = review_of(observation);
  ASSERT_EQ(review.queries.size(), 1u);
  EXPECT_EQ(review.queries[0].bound, "n");
  EXPECT_EQ(review.queries[0].partitions, std::nullopt);
  EXPECT_EQ(review.queries[0].partitions_max, 400);
}

TEST(Observation, StatementsThatNoLongerPlanAreReported) {
  Observation observation = shop();
  ObservedShape gone = shape("SELECT * FROM shop.gone WHERE id = ?", "gone", 10);
  gone.since_last = 3 * day;
  observation.shapes = {gone, shape("SELECT nick FROM shop.people WHERE id = ?", "people", 10),
                        shape("SELEKT", "people", 1), shape("SELECT id FROM shop.peo…", "people", 1)};
  observation.definitions.push_back("CREATE TABLE shop.broken (id uuid PRIMARY KEY, x no_such_type)");
  const Review review = review_of(observation);
  EXPECT_EQ(ids(review), "UNSUPPORTED_QUERY shop.gone/by_id\nUNSUPPORTED_QUERY shop.people/by_id\n");
  EXPECT_EQ(review.worst(), Severity::note);
  EXPECT_THAT(review.findings[0].message, HasSubstr("last ran 3 days ago"));
  EXPECT_EQ(review.internal_errors.size(), 2u);
}

TEST(Observation, UnknownStaysUnknown) {
  Observation observation = shop();
  observation.tables.clear();
  observation.shapes.clear();
  const Review review = review_of(observation);
  EXPECT_EQ(ids(review), "");
  EXPECT_EQ(review.find_table("shop.joins")->rows, std::nullopt);
  EXPECT_EQ(review.find_table("shop.joins")->horizon, std::nullopt);
  const auto json = boost::json::parse(render_json(review));
  EXPECT_TRUE(json.at("tables").at(0).at("rows").is_null());
}

TEST(Observation, TombstonesMetByReads) {
  Observation observation = shop();
  observation.tables[1].tombstones = {10, 5000, 20'000};
  const Finding* queue = nullptr;
  observation.shapes = {shape("SELECT * FROM shop.joins WHERE groupname = ? LIMIT ?", "joins", 100),
                        shape("DELETE FROM shop.joins WHERE groupname = ? AND joined = ?", "joins", 100)};
  const Review review = review_of(observation);
  ASSERT_NE(queue = find(review, Verdict::tombstone_scan), nullptr) << ids(review);
  EXPECT_EQ(queue->severity, Severity::error);
  EXPECT_EQ(queue->query, "by_groupname");
  EXPECT_THAT(measured(*queue),
              HasSubstr("1% of reads scan at least 5,000 tombstones; the maximum is 20,000"));
  EXPECT_THAT(queue->cql, HasSubstr("bucket"));
  observation.shapes.pop_back();
  const Review other = review_of(observation);
  ASSERT_NE(find(other, Verdict::tombstone_scan), nullptr);
  EXPECT_THAT(find(other, Verdict::tombstone_scan)->message, HasSubstr("deleted or expired"));
  observation.tables[1].tombstones = {0, 3, 50};
  EXPECT_EQ(find(review_of(observation), Verdict::tombstone_scan), nullptr);
}

TEST(Observation, SkewIsFitted) {
  for (const double exponent : {0.3, 0.9, 1.0, 2.5})
    for (const double count : {10.0, 1e4, 1e7})
      EXPECT_NEAR(zipf_exponent(count, 1 / zipf_sum(count, exponent)), exponent, 1e-6);
  EXPECT_EQ(zipf_exponent(1000, 1e-9), 0);
}

TEST(Observation, OneNodeHasOneReplica) {
  Observation observation = shop();
  observation.definitions[0] =
      "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}";
  EXPECT_EQ(review_of(observation).target.nodes, 3u) << "not known: the default";
  EXPECT_TRUE(review_of(observation).target.machines_assumed);
  observation.nodes = 1;
  const Review one = review_of(observation);
  EXPECT_EQ(one.target.nodes, 1u);
  EXPECT_EQ(one.target.replicas, 1u);
  EXPECT_FALSE(one.target.machines_assumed);
  EXPECT_EQ(review_of(observation, "-- @target nodes=6 rf=3\n").target.nodes, 6u) << "a file decides";
}

TEST(Observation, ToolsAndLooksAtTheDataAreNotTheWorkload) {
  Observation observation = shop();
  const std::string scan = "SELECT * FROM shop.people WHERE city = ? ALLOW FILTERING";
  observation.shapes = {
      shape("SELECT * FROM shop.people WHERE id = ?", "people", 3e6), shape(scan, "people", 1),
      shape("SELECT * FROM shop.people WHERE token(id) > ? AND token(id) <= ?", "people", 64)};
  for (ObservedShape& one : observation.shapes) one.rows_read = one.calls * 1000;
  const Review review = review_of(observation);
  EXPECT_EQ(find(review, Verdict::full_scan), nullptr) << ids(review);
  EXPECT_TRUE(review.queries.at(1).ad_hoc);
  EXPECT_TRUE(review.queries.at(2).ad_hoc);
  EXPECT_THAT(render_text(review, {}), HasSubstr("and 2 statements of tools, or seen once or twice"));
  // A file that has the statement makes it part of the workload.
  observation.shapes[1].rows_read = 2e6;
  EXPECT_NE(find(review_of(observation, "-- @query mine\n" + scan + ";\n"), Verdict::full_scan), nullptr);
}

TEST(Observation, AFinishedLoadIsNoGrowth) {
  Observation observation = shop();
  observation.shapes = {
      shape("INSERT INTO shop.joins (groupname, joined, username) VALUES (?, ?, ?)", "joins", 1e6)};
  EXPECT_GT(review_of(observation).find_table("shop.joins")->growth.back().sizes.max, 20e6);
  observation.shapes[0].since_last = day / 2;
  EXPECT_GT(review_of(observation).find_table("shop.joins")->growth.back().sizes.max, 20e6)
      << "it may come once a day";
  observation.shapes[0].since_last = 20 * day;
  const TableReview joins = *review_of(observation).find_table("shop.joins");
  EXPECT_EQ(joins.growth.back().sizes.max, joins.growth.front().sizes.max);
}

// A table has been observed for ten minutes. A load took two of them, and a read of the whole table took 40
// pages.
TEST(Observation, AShortLoadIsNoGrowthAndAPagedLookIsNoWorkload) {
  Observation observation = shop();
  for (ObservedTable& table : observation.tables) table.seconds = 600;
  const std::string insert = "INSERT INTO shop.joins (groupname, joined, username) VALUES (?, ?, ?)";
  observation.shapes = {shape("SELECT * FROM shop.people WHERE id = ?", "people", 6000),
                        shape(insert, "joins", 1e6), shape("SELECT * FROM shop.people", "people", 40)};
  for (ObservedShape& one : observation.shapes) {
    one.since_first = 600;
    one.since_last = 0;
  }
  observation.shapes[1].since_last = 480;
  observation.shapes[2].since_first = 30;
  observation.shapes[2].since_last = 28;
  const Review review = review_of(observation);
  const TableReview joins = *review.find_table("shop.joins");
  EXPECT_EQ(joins.growth.back().sizes.max, joins.growth.front().sizes.max);
  EXPECT_EQ(find(review, Verdict::full_scan), nullptr) << ids(review);
  EXPECT_TRUE(review.queries.at(2).ad_hoc);
  // While a server is stopped, it does not count requests.
  Observation stopped = observation;
  for (ObservedShape& one : stopped.shapes) {
    one.since_first += day;
    one.since_last += day;
  }
  stopped.shapes[1].since_last = day;
  EXPECT_GT(review_of(stopped).find_table("shop.joins")->growth.back().sizes.max,
            review_of(stopped).find_table("shop.joins")->growth.front().sizes.max);
  // If the same statement is observed over minutes, it is part of the workload.
  observation.shapes[2].since_first = 500;
  observation.shapes[2].rows_read = 40e5;
  EXPECT_FALSE(review_of(observation).queries.at(2).ad_hoc);
}

// Rates that were counted for a few seconds may not last.
TEST(Observation, AHotKeyOfAFewSecondsIsANote) {
  for (const auto& [seconds, severity] : {std::pair{20.0, Severity::note}, {2000.0, Severity::error}}) {
    Observation observation = shop();
    observation.tables[0].seconds = seconds;
    observation.tables[0].writes = 30'000 * seconds;
    observation.tables[0].hottest_write = {"'u1'", 0.9};
    const Review review = review_of(observation);
    const Finding* finding = find(review, Verdict::hot_partition);
    ASSERT_NE(finding, nullptr) << ids(review);
    EXPECT_EQ(finding->severity, severity) << seconds;
  }
}

TEST(Observation, AKeyWithMostRequestsIsHotByShare) {
  Observation observation = shop();
  observation.tables[0].reads = 100e6;
  observation.tables[0].hottest_read = {"'u1'", 0.9};
  observation.tables[0].hottest_write = {"'u1'", 0.9};
  const Review review = review_of(observation);
  const Finding* finding = find(review, Verdict::hot_partition);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_THAT(finding->message, HasSubstr("gets 90% of all requests"));
}

}  // namespace
}  // namespace sibyl::advisor
