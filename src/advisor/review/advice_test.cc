// Tests the quality of advice: its CQL can be executed next to the reviewed tables, it solves the problem,
// and pieces of advice do not contradict each other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include <sibyl/sibyl.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;
using testing::Not;

const Choice* chosen(const Finding& finding) {
  for (const Choice& choice : finding.choices)
    if (choice.chosen) return &choice;
  return nullptr;
}

std::string all_cql(const Review& review) {
  std::string out;
  for (const Finding& finding : review.findings) out += finding.cql;
  return out;
}

// Executes all fixes in the keyspace of the reviewed tables.
void expect_pasteable(const std::string& file, const Review& review) {
  auto database = Database::open(":memory:");
  ASSERT_TRUE(database) << database.error().text();
  ASSERT_TRUE(database->execute(
      "CREATE KEYSPACE d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
  Session session = database->session("d");
  for (const CqlStatement& statement : workload_of(file).cql) {
    if (statement.text.find("CREATE") == std::string::npos) continue;
    const auto made = session.execute(statement.text);
    ASSERT_TRUE(made) << statement.text << made.error().text();
  }
  for (const Finding& finding : review.findings) {
    for (const CqlStatement& statement : workload_of(finding.cql).cql) {
      if (statement.text.find("CREATE") == std::string::npos) continue;
      const auto made = session.execute(statement.text);
      EXPECT_TRUE(made) << finding.id() << "\n" << statement.text << made.error().text();
    }
  }
}

// --- Splits

constexpr const char* messages = R"(
CREATE TABLE messages (channel uuid, sent timeuuid, author text, body text, PRIMARY KEY (channel, sent))
  WITH CLUSTERING ORDER BY (sent DESC);
-- @table messages rows=500M partitions=200k growth=300/s skew=zipf(1.0)
-- @query latest rate=2000/s
SELECT * FROM messages WHERE channel = ? ORDER BY sent DESC LIMIT 50;
)";

TEST(ReviewSplit, RareReadsOfWholePartitionsDoNotDecide) {
  const Review alone = review_of(messages);
  ASSERT_NE(find(alone, Verdict::partition_growth), nullptr);
  const Choice* without = chosen(*find(alone, Verdict::partition_growth));
  ASSERT_NE(without, nullptr);
  EXPECT_GT(without->width, 0) << without->name;
  const Review both = review_of(std::string(messages) +
                                "-- @query by_author rate=10/s\n"
                                "SELECT * FROM messages WHERE channel = ? AND author = ? ALLOW FILTERING;\n");
  const Finding* finding = find(both, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  const Choice* with = chosen(*finding);
  ASSERT_NE(with, nullptr);
  EXPECT_GT(with->width, 0) << with->name << ": buckets serve the read that runs 200 times as often";
  // Each kind of read has its own cost.
  EXPECT_LT(*with->cost, 4 * *without->cost);
  for (const Choice& choice : finding->choices)
    if (choice.modulo > 0 && choice.fits) {
      EXPECT_GT(*choice.cost, 10 * *with->cost) << choice.name;
    }
  EXPECT_THAT(finding->cost, HasSubstr("a read of everything"));
}

TEST(ReviewSplit, ReadsOfWholePartitionsDecideIfThereAreNoOthers) {
  const Review review = review_of(R"(
CREATE TABLE readings (sensor int, at timestamp, value double, PRIMARY KEY (sensor, at));
-- @table readings rows=100M partitions=10 growth=100/s row=100 retention=30d
-- @query all rate=10/s
SELECT * FROM readings WHERE sensor = ?;
-- @query one rate=5000/s
SELECT * FROM readings WHERE sensor = ? AND at = ?;
)");
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  const Choice* choice = chosen(*finding);
  ASSERT_NE(choice, nullptr);
  // With any split, a read of one row takes one partition, so the read of all rows decides.
  EXPECT_LT(*choice->cost, 5010 * 0.02 + 100 * 0.02) << choice->name;
  EXPECT_GT(choice->partitions, 1);
}

// --- Names

TEST(ReviewPaste, FindingsOfATableShareOneNewTable) {
  const std::string text = R"(
CREATE TABLE messages (channel text, sent timestamp, body text, PRIMARY KEY (channel, sent));
-- @table messages rows=500M partitions=5 growth=300/s row=200
-- @query latest rate=2000/s
SELECT * FROM messages WHERE channel = ? LIMIT 50;
)";
  Review review = review_of(text);
  const Finding* growth = find(review, Verdict::partition_growth);
  const Finding* collision = find(review, Verdict::key_collision);
  const Finding* few = find(review, Verdict::low_cardinality);
  ASSERT_NE(growth, nullptr);
  ASSERT_NE(collision, nullptr);
  ASSERT_NE(few, nullptr);
  expect_pasteable(text, review);
  std::vector<const Finding*> defining;
  for (const Finding& finding : review.findings) {
    EXPECT_EQ(finding.replaces, "messages") << finding.id();
    if (!finding.cql.empty()) defining.push_back(&finding);
  }
  ASSERT_EQ(defining.size(), 1u);
  EXPECT_THAT(defining[0]->cql, HasSubstr("sent timeuuid"));
  EXPECT_THAT(defining[0]->cql, HasSubstr("CREATE TABLE messages_by_channel_and_"));
  EXPECT_THAT(defining[0]->fix, HasSubstr("DROP TABLE messages"));
  EXPECT_THAT(defining[0]->fix, HasSubstr("KEY_COLLISION"));
  EXPECT_THAT(collision->fix, HasSubstr("also resolves this"));
  // An accepted finding prints no definition; the next finding prints one.
  ASSERT_TRUE(apply_baseline(defining[0]->id() + ": known\n", "b", review));
  std::string shown;
  for (const Finding& finding : review.findings)
    if (!finding.accepted) shown += finding.cql;
  EXPECT_THAT(shown, HasSubstr("CREATE TABLE messages_by_channel_and_"));
}

TEST(ReviewPaste, TwoQueriesByOneColumn) {
  const std::string text = R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
-- @table people rows=5M
-- @query by_city
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
-- @query names_by_city
SELECT id FROM people WHERE city = ? ALLOW FILTERING;
-- @query by_city_and_age
SELECT * FROM people WHERE city = ? AND age > ? ALLOW FILTERING;
)";
  const Review review = review_of(text);
  ASSERT_EQ(review.findings.size(), 3u);
  expect_pasteable(text, review);
  EXPECT_THAT(review.findings[0].cql, HasSubstr("CREATE TABLE people_by_city ("));
  EXPECT_EQ(review.findings[1].cql, "");
  EXPECT_THAT(review.findings[1].fix, HasSubstr("FULL_SCAN people/by_city proposes"));
  EXPECT_THAT(review.findings[2].cql, HasSubstr("CREATE TABLE people_by_city_and_age ("));
  EXPECT_THAT(review.findings[2].fix, HasSubstr("a read of people_by_city_and_age takes"));
}

TEST(ReviewPaste, ExistingTablesAreNotProposedAgain) {
  const Review review = review_of(R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
CREATE TABLE people_by_city (city text, id uuid, age int, PRIMARY KEY (city, id));
-- @table people rows=5M
-- @query by_city
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
)");
  const Finding* finding = find(review, Verdict::full_scan);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cql, "");
  EXPECT_THAT(finding->fix, HasSubstr("Read people_by_city instead"));
}

TEST(ReviewPaste, ViewsAreReplacedByTables) {
  const std::string text = R"(
CREATE TABLE users (id uuid PRIMARY KEY, country text, name text);
CREATE MATERIALIZED VIEW users_by_country AS SELECT * FROM users WHERE country IS NOT NULL AND id IS NOT NULL
  PRIMARY KEY (country, id);
-- @table users rows=500M
-- @column users.country distinct=150
-- @query in_country rate=1/s
SELECT * FROM users_by_country WHERE country = ?;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  expect_pasteable(text, review);
  EXPECT_THAT(finding->fix, HasSubstr("DROP MATERIALIZED VIEW users_by_country"));
  EXPECT_THAT(finding->fix, HasSubstr("let the application write it"));
}

TEST(ReviewPaste, FixesOfEveryKindOfFindingCanBeExecuted) {
  for (const char* text :
       {"CREATE TABLE joins (groupname text, joined timeuuid, PRIMARY KEY (groupname, joined));\n"
        "SELECT * FROM joins WHERE groupname = ? ORDER BY joined DESC LIMIT 10;",
        "CREATE TABLE products (id uuid, price decimal, name text, PRIMARY KEY (id, price));\n"
        "-- @table products rows=1M partitions=1M\n",
        "CREATE TABLE jobs (queue text, at timeuuid, job text, PRIMARY KEY (queue, at));\n"
        "-- @table jobs rows=1000 partitions=10\n-- @query take rate=10/s\n"
        "SELECT * FROM jobs WHERE queue = ? LIMIT 1;\n-- @write done rate=10/s\n"
        "DELETE FROM jobs WHERE queue = ? AND at = ?;",
        "CREATE TABLE members (g text, u uuid, PRIMARY KEY (g, u));\n"
        "CREATE TABLE users (u uuid PRIMARY KEY, name text);\n-- @group all\n-- @query ids\n"
        "SELECT u FROM members WHERE g = ?;\n-- @query user times=1000\nSELECT * FROM users WHERE u = ?;",
        "CREATE TABLE prices (product text PRIMARY KEY, price decimal);\n"
        "-- @table prices rows=1000 skew=zipf(1.2) writes=10/s\n-- @query price rate=10000/s\n"
        "SELECT * FROM prices WHERE product = ?;",
        "CREATE TABLE repairs (b uuid, part text, at timeuuid, PRIMARY KEY (b, part, at));\n"
        "SELECT * FROM repairs WHERE b = ? AND at > ?;"}) {
    const Review review = review_of(text);
    EXPECT_FALSE(review.findings.empty()) << text;
    EXPECT_THAT(all_cql(review), HasSubstr("CREATE TABLE")) << text;
    expect_pasteable(text, review);
  }
}

// --- Figures

TEST(ReviewFigures, LimitStopsAnIndexRead) {
  const Review review = review_of(R"(
CREATE TABLE products (id uuid PRIMARY KEY, category text, name text);
CREATE INDEX ON products (category);
-- @table products rows=1500k
-- @column products.category distinct=200
-- @query some
SELECT * FROM products WHERE category = ? LIMIT 50;
)");
  EXPECT_EQ(review.queries[0].rows_read, 50);
  EXPECT_EQ(review.queries[0].rows_returned, 50);
}

TEST(ReviewFigures, SuggestedTablesMeetTheTarget) {
  const std::string text = R"(
CREATE TABLE users (id uuid PRIMARY KEY, country text, photo blob);
-- @table users rows=5M
-- @column users.country distinct=150
-- @column users.photo size=900kB
-- @query in_country rate=1/s
SELECT * FROM users WHERE country = ? ALLOW FILTERING;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::full_scan);
  ASSERT_NE(finding, nullptr);
  expect_pasteable(text, review);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((country, hash_prefix), id)"));
  const Choice* choice = chosen(*finding);
  ASSERT_NE(choice, nullptr);
  EXPECT_GT(choice->modulo, 100);
  EXPECT_LE(choice->largest_bytes, 100e6);
}

TEST(ReviewFigures, LimitOneOnTheSecondReadIsOneRow) {
  const std::string text = R"(
CREATE TABLE subscriptions (user text, channel uuid, PRIMARY KEY (user, channel));
CREATE TABLE messages (channel uuid, sent timeuuid, body text, PRIMARY KEY (channel, sent))
  WITH CLUSTERING ORDER BY (sent DESC);
-- @group unread
-- @query channels
SELECT channel FROM subscriptions WHERE user = ?;
-- @query head times=20
SELECT * FROM messages WHERE channel = ? LIMIT 1;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY (user, channel)\n"));
  EXPECT_THAT(finding->cql, HasSubstr("CREATE TABLE subscriptions_with_messages"));
  EXPECT_THAT(finding->fix, HasSubstr("No other statement reads subscriptions"));
}

TEST(ReviewFigures, JoinedTablesMeetTheTarget) {
  const auto text = [](const char* members) {
    return fmt::format(R"(
CREATE TABLE groups (name text, member uuid, PRIMARY KEY (name, member));
CREATE TABLE users (id uuid PRIMARY KEY, photo blob);
-- @table groups rows={} partitions=1000
-- @table users rows=1M
-- @column users.photo size=90kB
-- @group members
-- @query ids rate=10/s
SELECT member FROM groups WHERE name = ?;
-- @query user times=100
SELECT * FROM users WHERE id = ?;
)",
                       members);
  };
  const Review small = review_of(text("100k"));
  ASSERT_NE(find(small, Verdict::multi_partition), nullptr);
  EXPECT_THAT(find(small, Verdict::multi_partition)->cql, HasSubstr("PRIMARY KEY (name, member)"));
  const Review large = review_of(text("10M"));
  const Finding* finding = find(large, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr);
  expect_pasteable(text("10M"), large);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((name, hash_prefix), member)"));
  EXPECT_THAT(finding->fix,
              HasSubstr("Store the data looked up in users together with the rows of groups. Spread"));
  EXPECT_THAT(finding->cost, HasSubstr("Every change of a row is written to every copy; the copies take 90"));
  const Choice* choice = chosen(*finding);
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(choice->modulo, 11) << "10,000 rows of 90 kB, at most 100 MB, with random variation";
  EXPECT_LE(choice->largest_bytes, 100e6);
}

TEST(ReviewFigures, JoinedTablesHaveTheColumnsOfEveryLookUp) {
  const std::string text = R"(
CREATE TABLE orders (id uuid PRIMARY KEY, customer uuid, status text);
CREATE TABLE customers (customer uuid PRIMARY KEY, name text, status text);
CREATE TABLE order_lines (order_id uuid, line int, sku text, PRIMARY KEY (order_id, line));
-- @table orders rows=10M
-- @table customers rows=1M
-- @table order_lines rows=50M partitions=10M row=71
-- @group order_page
-- @query head rate=100/s
SELECT * FROM orders WHERE id = ?;
-- @query customer
SELECT * FROM customers WHERE customer = ?;
-- @query lines
SELECT * FROM order_lines WHERE order_id = ?;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr);
  expect_pasteable(text, review);
  EXPECT_THAT(finding->cql, HasSubstr("CREATE TABLE orders_with_customers_and_order_lines"));
  EXPECT_THAT(finding->cql, HasSubstr("  name text"));
  EXPECT_THAT(finding->cql, HasSubstr("  customers_status text")) << "both tables have a status";
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY (id, order_id, line)"));
  EXPECT_THAT(finding->fix,
              HasSubstr("looked up in customers and order_lines together with the rows of orders"));
}

TEST(ReviewFigures, QueuesAreDetectedByReadsOverTombstones) {
  const auto reviewed = [](const char* order, const char* read) {
    return review_of(fmt::format(R"(
CREATE TABLE jobs (shard int, state text, due timestamp, points int, id uuid,
  PRIMARY KEY (shard, state, {}, id)) WITH CLUSTERING ORDER BY (state ASC, {}, id ASC);
-- @table jobs rows=10k partitions=10 growth=0/s
-- @query take rate=10/s
SELECT * FROM jobs WHERE shard = ? AND state = 'ready'{} LIMIT 10;
-- @query done rate=100/s
DELETE FROM jobs WHERE shard = ? AND state = ? AND {} = ? AND id = ?;
)",
                                 std::string(order).substr(0, std::string(order).find(' ')), order, read,
                                 std::string(order).substr(0, std::string(order).find(' '))));
  };
  const Review until = reviewed("due ASC", " AND due <= ?");
  ASSERT_NE(find(until, Verdict::tombstone_scan), nullptr) << "an upper bound skips no tombstone";
  EXPECT_THAT(find(until, Verdict::tombstone_scan)->fix, HasSubstr("due > the last one taken"));
  EXPECT_EQ(find(reviewed("due ASC", " AND due > ?"), Verdict::tombstone_scan), nullptr);
  const Review newest = reviewed("due DESC", "");
  ASSERT_NE(find(newest, Verdict::tombstone_scan), nullptr);
  EXPECT_THAT(find(newest, Verdict::tombstone_scan)->fix, HasSubstr("due < the last one taken"));
  const Review ranking = reviewed("points DESC", "");
  ASSERT_NE(find(ranking, Verdict::tombstone_scan), nullptr);
  EXPECT_THAT(find(ranking, Verdict::tombstone_scan)->fix, testing::Not(HasSubstr("last one taken")))
      << "a ranking is not a queue";
  EXPECT_THAT(find(ranking, Verdict::tombstone_scan)->cql, HasSubstr("PRIMARY KEY (shard, state, place)"));
}

TEST(ReviewFigures, UndeclaredStatisticsStayUnknown) {
  const Review review = review_of(R"(
CREATE TABLE orders (id uuid PRIMARY KEY, customer uuid);
-- @table orders rows=200M
-- @query of_customer
SELECT * FROM orders WHERE customer = ? ALLOW FILTERING;
)");
  EXPECT_EQ(review.queries[0].rows_read, 200e6);
  EXPECT_EQ(review.queries[0].rows_returned, std::nullopt);
  for (const Evidence& evidence : review.findings[0].evidence)
    EXPECT_THAT(evidence.text, Not(HasSubstr("returned")));
}

TEST(ReviewFigures, RejectedStatementsGetAFix) {
  const std::string table =
      "CREATE TABLE posts (author text, at timeuuid, score int, PRIMARY KEY (author, at));\n";
  const auto fix = [&](const char* statement) {
    const Review review = review_of(table + statement);
    return review.findings.empty() ? std::string() : review.findings[0].fix;
  };
  EXPECT_THAT(fix("SELECT * FROM post WHERE author = ?;"), HasSubstr("did you mean posts?"));
  EXPECT_THAT(fix("SELECT * FROM posts WHERE auther = ?;"), HasSubstr("did you mean author?"));
  EXPECT_THAT(fix("SELECT * FROM posts WHERE author = ? ORDER BY score DESC;"),
              HasSubstr("add a table in that order"));
  EXPECT_THAT(fix("SELECT * FROM posts WHERE at > ?;"),
              HasSubstr("posts_by_day has a partition for each day (at rounded down)"));
}

TEST(ReviewFigures, EmptyTablesGetNoScanFinding) {
  const std::string table = "CREATE TABLE t (p int PRIMARY KEY, v int);\n-- @table t rows=";
  EXPECT_TRUE(review_of(table + "0\nSELECT * FROM t;").findings.empty());
  EXPECT_TRUE(review_of(table + "5\nSELECT * FROM t;").findings.empty());
}

TEST(ReviewFigures, ImpossibleNumbersAreRejected) {
  const auto refusal = [](const std::string& text) {
    const auto workload = parse_workload(text, "f.cql");
    return workload ? std::string() : workload.error().message();
  };
  EXPECT_THAT(refusal("-- @target nodes=1000000\n"), HasSubstr("from 1 to 1000 for nodes, found '1000000'"));
  EXPECT_THAT(refusal("-- @target rf=0\n"), HasSubstr("from 1 to 1000 for rf"));
  EXPECT_THAT(refusal("-- @table t rows=1e27\n"), HasSubstr("at most 1e18"));
  EXPECT_THAT(refusal("-- @table t growth=1e308/s\n"), HasSubstr("at most 1e18"));
  const std::string most =
      "CREATE TABLE t (p text, c timestamp, v text, PRIMARY KEY (p, c));\n"
      "-- @table t rows=1e18 partitions=1e18 growth=1e18/s row=1e18 max=1e18 skew=zipf(3)\n"
      "SELECT * FROM t WHERE p = ? LIMIT 10;";
  const Review review = review_of(most);
  const std::string json = render_json(review);
  EXPECT_NO_THROW((void)boost::json::parse(json));
  for (const std::string& text : {json, render_text(review, {}), render_markdown(review)}) {
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
    EXPECT_THAT(text, Not(HasSubstr("0000000000000000"))) << "unreadably long numbers";
  }
}

TEST(ReviewFigures, QuotedNamesHaveStatistics) {
  const std::string text = R"(
CREATE TABLE "MyOrders" ("The Customer" text, "Placed" timeuuid, PRIMARY KEY ("The Customer", "Placed"));
CREATE TABLE Plain (P int PRIMARY KEY);
-- @table "MyOrders" rows=1000
-- @column "MyOrders"."The Customer" distinct=10
-- @table Plain rows=7
)";
  const Workload workload = workload_of(text);
  const auto review = review_workloads({workload}, {});
  ASSERT_TRUE(review.has_value()) << review.error().message();
  EXPECT_EQ(review->find_table("MyOrders")->rows, 1000);
  EXPECT_EQ(review->find_table("MyOrders")->partitions, 10);
  EXPECT_EQ(review->find_table("plain")->rows, 7);
  const auto again = parse_workload(print_workload(workload), "again.cql");
  ASSERT_TRUE(again.has_value()) << print_workload(workload) << again.error().message();
  EXPECT_EQ(again->statistics[1].table, "MyOrders");
  EXPECT_EQ(again->statistics[1].column, "The Customer");
}

// --- Short observation periods

TEST(ReviewPrediction, ShortObservationsDoNotPredictAYear) {
  Observation observation;
  observation.source = "here";
  observation.definitions = {
      "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE s.events (kind text, at timestamp, PRIMARY KEY (kind, at))"};
  ObservedTable table;
  table.keyspace = "s";
  table.name = "events";
  table.rows = 4;
  table.partitions = 2;
  table.bytes = 400;
  table.partition_rows = {2, 2, 2};
  table.partition_bytes = {200, 200, 200};
  table.seconds = 11 * 60;
  table.writes = 4;
  observation.tables = {table};
  ObservedShape shape;
  shape.keyspace = "s";
  shape.table = "events";
  shape.text = "INSERT INTO s.events (kind, at) VALUES (?, ?)";
  shape.calls = 4;
  shape.since_first = 11 * 60;
  observation.shapes = {shape};
  ReviewOptions options;
  options.observation = &observation;
  const auto review = review_workloads({}, options);
  ASSERT_TRUE(review.has_value()) << review.error().message();
  for (const Finding& finding : review->findings) ADD_FAILURE() << finding.id() << finding.message;
  const std::string text = render_text(*review, {});
  EXPECT_THAT(text, HasSubstr("after 18 hours, the limit of the prediction"));
  EXPECT_EQ(review->tables[0].horizon_seconds, 66'000);
  EXPECT_EQ(review->tables[0].growth.back().seconds, 66'000);
}

}  // namespace
}  // namespace sibyl::advisor
