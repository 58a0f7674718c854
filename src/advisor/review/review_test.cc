#include "advisor/review/review.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>

#include "advisor/review/buckets.h"
#include "advisor/review/test_review.h"
#include "base/source_path.h"

namespace sibyl::advisor {
namespace {

// A fix consists of complete definitions that can be executed.
void expect_runnable(const Finding& finding) {
  EXPECT_FALSE(finding.fix.empty()) << finding.id();
  EXPECT_FALSE(finding.cost.empty()) << finding.id();
  EXPECT_FALSE(finding.evidence.empty()) << finding.id();
  auto workload = parse_workload(finding.cql, "fix.cql");
  ASSERT_TRUE(workload.has_value()) << finding.cql;
  if (!finding.cql.starts_with("SELECT")) {
    const auto review = review_workloads({*workload}, {});
    EXPECT_TRUE(review.has_value()) << finding.cql << (review ? "" : review.error().message());
  }
}

// --- Bucket arithmetic

TEST(ReviewBuckets, NewestTenAtThreeADay) {
  constexpr double day = 86'400;
  const std::vector<double> widths = bucket_widths(10 * day / 3, 1000 * day, false);
  EXPECT_EQ(widths, (std::vector<double>{4 * day, 7 * day, 14 * day, 30 * day}));
  const TimeBucket four{3 / day, 4 * day, 10};
  EXPECT_NEAR(four.expected(), 1.8333, 0.001);
  EXPECT_NEAR(1 - four.chance_above(1), 0.21, 0.01);
  EXPECT_NEAR(four.chance_above(2), 0.05, 0.01);
  EXPECT_NEAR((TimeBucket{3 / day, 7 * day, 10}.expected()), 1.48, 0.005);
  EXPECT_NEAR((TimeBucket{3 / day, 14 * day, 10}.expected()), 1.24, 0.005);
  EXPECT_NEAR((TimeBucket{3 / day, 30 * day, 10}.expected()), 1.11, 0.005);
}

TEST(ReviewBuckets, ExpectedIsTheSumOfProbabilities) {
  for (const double wanted : {1.0, 10.0, 60.0}) {
    const TimeBucket bucket{0.7, 9, wanted};
    double sum = 1;
    for (double n = 1; n < 200; ++n) sum += bucket.chance_above(n);
    EXPECT_NEAR(sum, bucket.expected(), 1e-6) << wanted;
  }
}

TEST(ReviewBuckets, QuantilesAreMinimal) {
  for (const double width : {0.5, 3.0, 40.0}) {
    const TimeBucket bucket{0.7, width, 25};
    const double found = bucket.quantile(0.95);
    EXPECT_LE(bucket.chance_above(found), 0.05);
    if (found > 1) {
      EXPECT_GT(bucket.chance_above(found - 1), 0.05);
    }
  }
  // Rows are so rare that buckets are mostly empty; the search must still terminate.
  EXPECT_GT((TimeBucket{1e-9, 1, 10}.quantile(0.95)), 1e9);
}

TEST(ReviewBuckets, SizeLimitsTheWidth) {
  // 1,000 rows of 1 kB per second fill 100 MB in 100 seconds.
  constexpr double hour = 3600, day = 24 * hour;
  EXPECT_EQ(bucket_widths(1000, 100, false), std::vector<double>{60});
  // The widths are divisors of a day, as wide as permitted.
  EXPECT_EQ(bucket_widths(60, 13.9 * hour, false), std::vector<double>{12 * hour});
  EXPECT_EQ(bucket_widths(60, 20 * day, false), (std::vector<double>{day, 7 * day, 14 * day}));
  EXPECT_EQ(bucket_widths(60, 20.5 * day, true), (std::vector<double>{day, 7 * day, 14 * day, 20 * day}));
  EXPECT_EQ(bucket_widths(30 * day, 20.5 * day, false), std::vector<double>{20 * day});
  EXPECT_EQ(bucket_widths(191 * day, 191 * day, false).back(), 180 * day) << "usual numbers of days";
  EXPECT_EQ(bucket_widths(1, 1e-9, false), std::vector<double>{1}) << "the minimum is a second";
  EXPECT_EQ(least_modulo(0, 100e6, 4000, 1000), 4);
  EXPECT_EQ(least_modulo(950e6, 100e6, 4000, 1000), 10);
  EXPECT_EQ(least_modulo(1, 100e6, 1, 1000), 1);
}

// --- Examples from data modelling guides

constexpr const char* users_by_two_tables = R"(
CREATE TABLE users_by_username (username text PRIMARY KEY, email text, age int);
CREATE TABLE users_by_email (email text PRIMARY KEY, username text, age int);
-- @table users_by_username rows=1M
-- @table users_by_email rows=1M
-- @group by_name
-- @query name rate=100/s
SELECT * FROM users_by_username WHERE username = ?;
-- @group by_email
-- @query email rate=100/s
SELECT * FROM users_by_email WHERE email = ?;
)";

TEST(ReviewSeeds, TwoTablesReadOnePartitionEach) {
  const Review review = review_of(users_by_two_tables);
  EXPECT_EQ(ids(review), "");
  EXPECT_EQ(review.worst(), std::nullopt);
  ASSERT_NE(review.find_query("name"), nullptr);
  EXPECT_EQ(review.find_query("name")->bound, "1");
  EXPECT_EQ(review.find_query("name")->rows_read, 1);
  EXPECT_TRUE(render_text(review, {}).starts_with("OK"));
}

TEST(ReviewSeeds, ThreeTablesReadTwoPartitions) {
  const Review review = review_of(users_in_three_tables);
  ASSERT_EQ(review.groups.size(), 1u);
  EXPECT_EQ(review.groups[0].partitions, 2);
  const Finding* finding = find(review, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_EQ(finding->severity, Severity::note);
  EXPECT_NE(finding->cql.find("CREATE TABLE users_by_username"), std::string::npos);
  EXPECT_NE(finding->cql.find("age int"), std::string::npos);
  expect_runnable(*finding);
}

TEST(ReviewSeeds, GroupsOfAThousandAndOnePartitions) {
  const Review scattered = review_of(R"(
CREATE TABLE groups (groupname text, user_id uuid, PRIMARY KEY (groupname, user_id));
CREATE TABLE users (id uuid PRIMARY KEY, username text, email text, age int);
-- @group members
-- @query ids
SELECT user_id FROM groups WHERE groupname = ?;
-- @query user times=1000
SELECT * FROM users WHERE id = ?;
)");
  ASSERT_EQ(scattered.groups.size(), 1u);
  EXPECT_EQ(scattered.groups[0].partitions, 1001);
  const Finding* finding = find(scattered, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::error);
  expect_runnable(*finding);
  const Review together = review_of(R"(
CREATE TABLE groups (groupname text, username text, email text, age int, PRIMARY KEY (groupname, username));
-- @table groups rows=1M partitions=1000
-- @query members rate=10/s
SELECT * FROM groups WHERE groupname = ?;
)");
  EXPECT_EQ(ids(together), "");
  EXPECT_EQ(together.find_query("members")->bound, "1");
  EXPECT_EQ(together.find_query("members")->rows_read, 1000);
}

TEST(ReviewSeeds, AGroupOfMillionsIsSplitByAHashPrefix) {
  const std::string text = R"(
CREATE TABLE groups (groupname text, username text, email text, age int, PRIMARY KEY (groupname, username));
-- @table groups rows=20M partitions=1000 p50=100 p99=20k max=3500k row=80
-- @target partition=100MB
-- @query members rate=10/s
SELECT * FROM groups WHERE groupname = ?;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_EQ(finding->severity, Severity::error);
  expect_runnable(*finding);
  // 343 MB with a prefix in each row: modulo 2 is too small, 4 is the smallest that fits, 10 reads more than
  // necessary.
  ASSERT_EQ(finding->choices.size(), 3u);
  EXPECT_EQ(finding->choices[0].partitions, 2);
  EXPECT_FALSE(finding->choices[0].fits);
  EXPECT_EQ(finding->choices[1].partitions, 4);
  EXPECT_TRUE(finding->choices[1].chosen);
  EXPECT_EQ(finding->choices[2].partitions, 10);
  EXPECT_LT(*finding->choices[1].cost, *finding->choices[2].cost);
  EXPECT_NE(finding->cql.find("PRIMARY KEY ((groupname, hash_prefix), username)"), std::string::npos);
  EXPECT_NE(finding->cost.find("reads per write"), std::string::npos) << finding->cost;
}

constexpr const char* newest_users = R"(
CREATE TABLE group_join_dates (groupname text, joined timeuuid, username text, email text, age int,
  PRIMARY KEY (groupname, joined)){};
-- @table group_join_dates rows=1M partitions=1000
-- @query newest rate=10/s
SELECT * FROM group_join_dates WHERE groupname = ? {} LIMIT 10;
)";

std::string with(std::string text, const std::string& first, const std::string& second) {
  text.replace(text.find("{}"), 2, first);
  text.replace(text.find("{}"), 2, second);
  return text;
}

TEST(ReviewSeeds, NewestFirstIsTheClusteringOrder) {
  const Review against = review_of(with(newest_users, "", "ORDER BY joined DESC"));
  const Finding* finding = find(against, Verdict::order_mismatch);
  ASSERT_NE(finding, nullptr) << ids(against);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->cql.find("WITH CLUSTERING ORDER BY (joined DESC)"), std::string::npos);
  expect_runnable(*finding);
  const Review along = review_of(with(newest_users, " WITH CLUSTERING ORDER BY (joined DESC)", ""));
  EXPECT_EQ(ids(along), "");
  EXPECT_EQ(along.find_query("newest")->rows_read, 10);
}

TEST(ReviewSeeds, NewestTenAtThreeJoinsADayGivesFourDays) {
  const Review review = review_of(newest_ten_of_three_a_day);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr) << ids(review);
  ASSERT_FALSE(finding->choices.empty());
  EXPECT_EQ(finding->choices[0].name, "time bucket of 4 days");
  EXPECT_NEAR(finding->choices[0].partitions, 1.84, 0.01);
  EXPECT_EQ(finding->choices[0].partitions_p95, 2);
  EXPECT_TRUE(finding->choices[0].chosen);
  EXPECT_NE(finding->cql.find("PRIMARY KEY ((groupname, bucket), joined)"), std::string::npos)
      << finding->cql;
  expect_runnable(*finding);
}

TEST(ReviewSeeds, BooleanAndCategoryKeys) {
  const Review flag = review_of(products_by_flag);
  const Finding* finding = find(flag, Verdict::low_cardinality);
  ASSERT_NE(finding, nullptr) << ids(flag);
  EXPECT_EQ(finding->severity, Severity::error);
  expect_runnable(*finding);
  const Review category = review_of(R"(
CREATE TABLE products (category text, id uuid, name text, PRIMARY KEY (category, id));
-- @table products rows=10M row=200 reads=5000/s writes=4000/s
-- @column products.category distinct=50 skew=zipf(1)
-- @target nodes=6
)");
  EXPECT_NE(find(category, Verdict::low_cardinality), nullptr) << ids(category);
  EXPECT_NE(find(category, Verdict::partition_growth), nullptr);
  EXPECT_NE(find(category, Verdict::hot_partition), nullptr) << ids(category);
  ASSERT_TRUE(category.find_table("products")->spread.has_value());
  EXPECT_GT(category.find_table("products")->spread->bytes, 1.1);
  for (const Finding& each : category.findings) expect_runnable(each);
}

TEST(ReviewSeeds, AUniqueKeyMakesClusteringUseless) {
  const Review review = review_of(R"(
CREATE TABLE products (id uuid, price decimal, name text, PRIMARY KEY (id, price));
-- @table products rows=1M
-- @column products.id distinct=1M
)");
  const Finding* finding = find(review, Verdict::too_unique);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_NE(finding->cql.find("PRIMARY KEY (id)"), std::string::npos);
  expect_runnable(*finding);
}

TEST(ReviewSeeds, LogsByHourAndByEventType) {
  const std::string by_hour = R"(
CREATE TABLE events (hour timestamp, time timeuuid, event_type text, data text, PRIMARY KEY (hour, time));
-- @table events growth=5000/s row=100
-- @column events.hour growth=1/h
-- @target partition_rate=1000/s partition=2GB
)";
  const Review hot = review_of(by_hour);
  const Finding* finding = find(hot, Verdict::hot_partition);
  ASSERT_NE(finding, nullptr) << ids(hot);
  expect_runnable(*finding);
  const Review spread = review_of(R"(
CREATE TABLE events (hour timestamp, time timeuuid, event_type text, data text, PRIMARY KEY ((hour, event_type), time));
-- @table events growth=5000/s row=100
-- @column events.hour growth=1/h
-- @column events.event_type distinct=20
-- @target partition_rate=1000/s partition=2GB
)");
  EXPECT_EQ(ids(spread), "");
  // 5,000 rows per second for an hour, over 20 types.
  ASSERT_TRUE(spread.find_table("events")->now.has_value());
  EXPECT_NEAR(spread.find_table("events")->now->p50, 5000 * 3600 / 20 * 100, 1);
}

TEST(ReviewSeeds, TimeSeriesKeysCollide) {
  const Review review = review_of(R"(
CREATE TABLE user_events (name text, created_at timestamp, event_type text, PRIMARY KEY (name, created_at));
-- @table user_events rows=1M partitions=1000 growth=50/s retention=1d arrival=random
)");
  const Finding* finding = find(review, Verdict::key_collision);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_EQ(finding->severity, Severity::error);
  EXPECT_NE(finding->cql.find("created_at timeuuid"), std::string::npos);
  expect_runnable(*finding);
  // 5 rows per millisecond: all but one of them are lost.
  const Review fast = review_of(R"(
CREATE TABLE events (hour timestamp, time timestamp, PRIMARY KEY (hour, time));
-- @table events growth=5000/s
-- @column events.hour growth=1/h
)");
  ASSERT_NE(find(fast, Verdict::key_collision), nullptr);
  EXPECT_NE(find(fast, Verdict::key_collision)->message.find("About 126G rows"), std::string::npos)
      << find(fast, Verdict::key_collision)->message;
}

// --- Further verdicts

TEST(Review, ScansFiltersAndRejectedStatements) {
  const std::string table = R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
-- @table people rows=5M writes=20/s
)";
  const Review scan = review_of(table + "SELECT * FROM people WHERE city = ? ALLOW FILTERING;");
  const Finding* finding = find(scan, Verdict::full_scan);
  ASSERT_NE(finding, nullptr) << ids(scan);
  EXPECT_EQ(finding->severity, Severity::error);
  EXPECT_NE(finding->cql.find("CREATE TABLE people_by_city"), std::string::npos);
  EXPECT_NE(finding->cql.find("PRIMARY KEY (city, id)"), std::string::npos);
  EXPECT_NE(finding->cost.find("20/s"), std::string::npos);
  expect_runnable(*finding);
  EXPECT_EQ(scan.queries[0].bound, "all");
  const Review refused = review_of(table + "SELECT * FROM people WHERE city = ?;");
  ASSERT_NE(find(refused, Verdict::unsupported_query), nullptr);
  expect_runnable(*find(refused, Verdict::unsupported_query));
  const Review page = review_of(table + "SELECT * FROM people LIMIT 5;");
  EXPECT_EQ(ids(page), "");
  EXPECT_EQ(page.queries[0].bound, "≤ all");
  EXPECT_EQ(page.queries[0].partitions, 5);
  const Review within = review_of(R"(
CREATE TABLE posts (author text, at timeuuid, topic text, PRIMARY KEY (author, at));
-- @table posts rows=10M partitions=1000
-- @column posts.topic distinct=100
SELECT * FROM posts WHERE author = ? AND topic = ? ALLOW FILTERING;
)");
  ASSERT_NE(find(within, Verdict::allow_filtering), nullptr) << ids(within);
  EXPECT_EQ(within.queries[0].rows_read, 10'000);
  EXPECT_NEAR(*within.queries[0].rows_returned, 100, 1e-6);
}

TEST(Review, InReadsOnePartitionPerValue) {
  const std::string table = "CREATE TABLE t (p int, v int, PRIMARY KEY (p));\n";
  EXPECT_EQ(review_of(table + "SELECT * FROM t WHERE p IN (1, 2, 3);").queries[0].bound, "3");
  const Review many = review_of(table + "-- @query several partitions=300\nSELECT * FROM t WHERE p IN ?;");
  EXPECT_EQ(many.queries[0].bound, "n");
  ASSERT_NE(find(many, Verdict::multi_partition), nullptr);
  EXPECT_EQ(find(many, Verdict::multi_partition)->severity, Severity::error);
}

TEST(Review, Indexes) {
  const std::string table = R"(
CREATE TABLE users (id uuid PRIMARY KEY, email text, active boolean, city text);
CREATE INDEX ON users (email);
CREATE INDEX ON users (active);
CREATE INDEX ON users (city);
-- @table users rows=1M
-- @column users.email distinct=1M
-- @column users.city distinct=2000
)";
  const Review unique = review_of(table + "SELECT * FROM users WHERE email = ?;");
  ASSERT_NE(find(unique, Verdict::index_cardinality), nullptr) << ids(unique);
  EXPECT_NE(find(unique, Verdict::index_cardinality)->cql.find("users_by_email"), std::string::npos);
  const Review few = review_of(table + "SELECT * FROM users WHERE active = true;");
  EXPECT_NE(find(few, Verdict::index_cardinality), nullptr);
  EXPECT_EQ(ids(review_of(table + "SELECT * FROM users WHERE city = ?;")), "");
}

TEST(Review, QueuesCountersAndLargeCells) {
  const Review queue = review_of(R"(
CREATE TABLE jobs (queue text, at timeuuid, job text, PRIMARY KEY (queue, at));
-- @table jobs rows=1000 partitions=10
-- @write put rate=10/s
INSERT INTO jobs (queue, at, job) VALUES (?, now(), ?);
-- @query take rate=10/s
SELECT * FROM jobs WHERE queue = ? LIMIT 1;
-- @write done rate=10/s
DELETE FROM jobs WHERE queue = ? AND at = ?;
-- @target horizon=1d
)");
  ASSERT_NE(find(queue, Verdict::tombstone_scan), nullptr) << ids(queue);
  EXPECT_EQ(find(queue, Verdict::tombstone_scan)->severity, Severity::error);
  expect_runnable(*find(queue, Verdict::tombstone_scan));
  const Review mixed = review_of("CREATE TABLE pages (url text PRIMARY KEY, title text, views counter);");
  ASSERT_NE(find(mixed, Verdict::counter_mix), nullptr);
  EXPECT_NE(find(mixed, Verdict::counter_mix)->cql.find("CREATE TABLE pages_counters"), std::string::npos);
  expect_runnable(*find(mixed, Verdict::counter_mix));
  const Review large = review_of(R"(
CREATE TABLE files (name text PRIMARY KEY, owner text, content blob);
-- @column files.content size=20MB
)");
  ASSERT_NE(find(large, Verdict::large_cell), nullptr);
  EXPECT_EQ(find(large, Verdict::large_cell)->severity, Severity::error);
  expect_runnable(*find(large, Verdict::large_cell));
}

TEST(Review, SpreadIsEvenForManyKeysAndDeterministic) {
  const std::string text =
      "CREATE TABLE t (p int PRIMARY KEY, v int);\n-- @table t rows=1M\n-- @target nodes=6 rf=3";
  const Review review = review_of(text);
  ASSERT_TRUE(review.tables[0].spread.has_value());
  EXPECT_EQ(review.tables[0].spread->nodes, 6u);
  EXPECT_EQ(review.tables[0].spread_doubled->nodes, 12u);
  EXPECT_LT(review.tables[0].spread->bytes, 1.2);
  EXPECT_EQ(render_json(review), render_json(review_of(text)));
}

TEST(Review, BaselineAcceptsWithAReason) {
  const std::string text =
      "CREATE TABLE people (id uuid PRIMARY KEY, city text);\n-- @table people rows=5M\n"
      "-- @query by_city\nSELECT * FROM people WHERE city = ? ALLOW FILTERING;";
  Review review = review_of(text);
  EXPECT_EQ(review.worst(), Severity::error);
  ASSERT_TRUE(
      apply_baseline("# known\nFULL_SCAN people/by_city: runs once a night\nOK x: gone\n", "b", review));
  EXPECT_EQ(review.worst(), std::nullopt);
  EXPECT_EQ(review.unused_baseline, std::vector<std::string>{"OK x"});
  EXPECT_NE(render_text(review, {}).find("runs once a night"), std::string::npos);
  EXPECT_FALSE(apply_baseline("FULL_SCAN people/by_city\n", "b", review));
  EXPECT_FALSE(apply_baseline("NONSENSE people: because\n", "b", review));
}

// Absurd numbers: any verdict will do, but the review must terminate.
TEST(Review, AbsurdNumbersTerminate) {
  for (const char* numbers :
       {"rows=1e18 partitions=1 growth=1e18/s row=1e15", "rows=1e18 partitions=1e18 growth=1/y row=1",
        "partitions=1e12 growth=1e12/s skew=zipf(30)", "rows=0 partitions=0 growth=0 max=0",
        "rows=5 p50=1e18"}) {
    const Review review = review_of(
        std::string("CREATE TABLE t (p text, c timestamp, v int, PRIMARY KEY (p, c));\n-- @table t ") +
        numbers +
        "\n-- @target partition=1 partition_rate=1/y nodes=7 rf=9 horizon=1000y\n-- @query q rate=1e9/s\n"
        "SELECT * FROM t WHERE p = ? LIMIT 1000000000;");
    EXPECT_EQ(review.tables.size(), 1u) << numbers;
    EXPECT_FALSE(render_text(review, {}).empty());
    EXPECT_FALSE(render_json(review).empty());
    EXPECT_FALSE(render_markdown(review).empty());
  }
}

TEST(Review, ErrorsNameThePosition) {
  auto workload = parse_workload("CREATE TABLE t (p int PRIMARY KEY);\n-- @column t.q distinct=3\n", "f.cql");
  ASSERT_TRUE(workload.has_value());
  auto review = review_workloads({*workload}, {});
  ASSERT_FALSE(review.has_value());
  EXPECT_TRUE(review.error().message().starts_with("f.cql:2: no column 'q'")) << review.error().message();
}

TEST(Review, FormatsAgree) {
  const Review review =
      review_of("CREATE TABLE people (id uuid PRIMARY KEY, city text);\nSELECT * FROM people;");
  const auto json = boost::json::parse(render_json(review));
  EXPECT_EQ(json.at("verdict").as_string(), "warning");
  EXPECT_EQ(json.at("findings").as_array().size(), 1u);
  EXPECT_EQ(json.at("findings").at(0).at("code").as_string(), "FULL_SCAN");
  EXPECT_NE(render_markdown(review).find("### warning `FULL_SCAN people/line_2`"), std::string::npos);
  EXPECT_EQ(render_text(review, {}).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(review, {.colour = true}).find('\x1b'), std::string::npos);
}

// Every ```cql block of docs/advisor.md gives the verdict of its section, and the following ```cql fixed
// block does not.
TEST(Review, DocumentedExamplesHold) {
  std::ifstream file(base::source_path("docs/advisor.md"));
  ASSERT_TRUE(file.good());
  std::string line, section, block;
  std::optional<bool> fixed;
  size_t examples = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line == "```cql" || line == "```cql fixed") {
      fixed = line.ends_with("fixed");
      block.clear();
    } else if (line == "```" && fixed) {
      const auto verdict = verdict_by_name(section);
      ASSERT_TRUE(verdict.has_value()) << section;
      const Review review = review_of(block);
      if (*verdict == Verdict::ok)
        EXPECT_EQ(ids(review), "");
      else
        EXPECT_EQ(find(review, *verdict) == nullptr, *fixed) << section << "\n" << block << ids(review);
      ++examples;
      fixed.reset();
    } else if (fixed) {
      block += line + "\n";
    }
  }
  EXPECT_GE(examples, 20u);
}

}  // namespace
}  // namespace sibyl::advisor
