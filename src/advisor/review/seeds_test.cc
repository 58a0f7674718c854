// Tables and queries quoted from the guides that the advisor's rules are based on. The advisor must judge
// them as the guides do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

std::string chosen(const Review& review) {
  const Finding* finding = find(review, Verdict::partition_growth);
  if (finding == nullptr) return "no finding";
  for (const Choice& choice : finding->choices)
    if (choice.chosen) return choice.name;
  return "none chosen";
}

// --- User look-ups

// The guide: "We now have to read two partitions" for either look-up. With two tables, each look-up reads
// one.
TEST(Seeds, UserLookup) {
  const Review three = review_of(std::string(users_in_three_tables) + R"(
-- @group by_email
-- @query email
SELECT id FROM users_by_email WHERE email = ?;
-- @query user_of_email
SELECT * FROM users WHERE id = ?;
)");
  EXPECT_EQ(ids(three),
            "MULTI_PARTITION users_by_username/by_name\nMULTI_PARTITION users_by_email/by_email\n");
  ASSERT_EQ(three.groups.size(), 2u);
  EXPECT_EQ(three.groups[0].partitions, 2);
  EXPECT_EQ(three.groups[1].partitions, 2);
  EXPECT_THAT(three.findings[0].cost, HasSubstr("1/2.0 as much as now")) << "roughly twice as expensive";
  const Review two = review_of(R"(
CREATE TABLE users_by_username (username text PRIMARY KEY, email text, age int);
CREATE TABLE users_by_email (email text PRIMARY KEY, username text, age int);
-- @table users_by_username rows=1M
-- @table users_by_email rows=1M
-- @query name
SELECT * FROM users_by_username WHERE username = ?;
-- @query email
SELECT * FROM users_by_email WHERE email = ?;
)");
  EXPECT_EQ(ids(two), "");
  for (const QueryReview& query : two.queries) EXPECT_EQ(query.bound, "1");
  for (const TableReview& table : two.tables) EXPECT_LT(table.spread->bytes, 1.1) << "one partition per user";
}

// --- Groups of users

constexpr const char* apart = R"(
CREATE TABLE users (id uuid PRIMARY KEY, username text, email text, age int);
CREATE TABLE groups (groupname text, user_id uuid, PRIMARY KEY (groupname, user_id));
-- @table users rows=1M writes={}/s
-- @table groups rows=5M partitions=5000
-- @group members
-- @query ids rate={}/s
SELECT user_id FROM groups WHERE groupname = ?;
-- @query user times=1000
SELECT * FROM users WHERE id = ?;
)";

// "If a group has 1000 users, we need to read 1001 partitions … On the other hand, if reads are extremely
// infrequent, but updates to user info are extremely common, this data model might actually make sense."
TEST(Seeds, AThousandAndOnePartitionsAndTheirUpdates) {
  const Review often_read = review_of(fmt::format(fmt::runtime(apart), 1, 10));
  ASSERT_EQ(often_read.groups.size(), 1u);
  EXPECT_EQ(often_read.groups[0].partitions, 1001);
  ASSERT_NE(find(often_read, Verdict::multi_partition), nullptr);
  EXPECT_EQ(find(often_read, Verdict::multi_partition)->severity, Severity::error);
  const Review often_changed = review_of(fmt::format(fmt::runtime(apart), 1000, 0.01));
  EXPECT_EQ(ids(often_changed), "");
  EXPECT_EQ(often_changed.groups[0].partitions, 1001) << "the partitions are reported in any case";
}

constexpr const char* large_group = R"(
CREATE TABLE groups (groupname text, username text, email text, age int, PRIMARY KEY (groupname, username));
-- @table groups rows=20M partitions=1000 p50=100 p99=20k max={} row=80 reads={}/s writes={}/s
-- @query members
SELECT * FROM groups WHERE groupname = ?{};
)";

// "If you do a lot of reads and groups don't get too large, maybe changing the modulo value from four to two
// would be a good choice. If you do very few reads, but any given group can grow very large, changing from
// four to ten would be a better choice."
TEST(Seeds, HashPrefixesOfTwoFourAndTen) {
  const auto model = [](const char* largest, double reads, double writes, const char* limit = "") {
    return review_of(fmt::format(fmt::runtime(large_group), largest, reads, writes, limit));
  };
  EXPECT_EQ(chosen(model("1900k", 1000, 1)), "hash prefix modulo 2");
  EXPECT_EQ(chosen(model("3500k", 100, 10)), "hash prefix modulo 4");
  EXPECT_EQ(chosen(model("9900k", 0.1, 100)), "hash prefix modulo 10");
  const Review review = model("3500k", 100, 10);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::error);
  ASSERT_EQ(finding->choices.size(), 3u);
  EXPECT_FALSE(finding->choices[0].fits);
  // The cost is the number of reads, times the cost of one request and m partitions, plus the cost of the
  // writes. The ratio of reads to writes decides which m is cheapest.
  const CostModel cost;
  for (const Choice& choice : finding->choices)
    EXPECT_NEAR(*choice.cost, 100 * cost.read(choice.partitions, 0) + 10 * cost.insert, 1e-9) << choice.name;
  EXPECT_THAT(finding->cost, HasSubstr("Above 3.2 reads per write"));
}

// If reads want few rows and dominate, they get a table of their own.
TEST(Seeds, ASecondTableWhereReadsDominate) {
  const auto model = [](double reads, double writes) {
    return review_of(fmt::format(fmt::runtime(large_group), "3500k", reads, writes, " LIMIT 100"));
  };
  EXPECT_EQ(chosen(model(30, 10)), "hash prefix modulo 4");
  EXPECT_EQ(chosen(model(35, 10)), "hash prefix modulo 4 and a second table for reads");
}

// --- The newest users of a group

// "If we usually need the ten newest users, and groups usually acquire three users per day, we should split
// by four-day ranges instead of a single day": checks how many partitions are then read.
TEST(Seeds, FourDaysForTheNewestTen) {
  const Review review = review_of(newest_ten_of_three_a_day);
  EXPECT_EQ(chosen(review), "time bucket of 4 days");
  const Finding* finding = find(review, Verdict::partition_growth);
  EXPECT_THAT(finding->cost, HasSubstr("1.83 partitions on average and at most 2 in 95% of cases"));
  EXPECT_THAT(finding->fix, HasSubstr("goes back until it has enough rows"));
  EXPECT_THAT(finding->cql, HasSubstr("CLUSTERING ORDER BY (joined DESC)"));
}

// --- Products

TEST(Seeds, ProductsByWrongKeys) {
  // "You will have only two large partitions."
  const Review flag = review_of(products_by_flag);
  ASSERT_NE(find(flag, Verdict::low_cardinality), nullptr) << ids(flag);
  EXPECT_THAT(find(flag, Verdict::low_cardinality)->message, HasSubstr("2 partitions for 3 nodes"));
  // "In some years more products have been produced than in other years."
  const Review year = review_of(R"(
CREATE TABLE products (release_year text, id uuid, name text, PRIMARY KEY (release_year, id));
-- @table products rows=10M row=100
-- @column products.release_year distinct=20 skew=zipf(0.8)
-- @target nodes=6
)");
  ASSERT_NE(find(year, Verdict::low_cardinality), nullptr) << ids(year);
  EXPECT_GT(year.find_table("products")->spread->bytes, 1.2);
  // "The query will fail since you need to provide the product name as well."
  const Review half = review_of(R"(
create table product_by_id_name (id text, name text, price decimal, size text, PRIMARY KEY((id,name)));
SELECT * from product_by_id_name where id = '1';
SELECT * from product_by_id_name where id = '1' and name = 'product_name';
)");
  EXPECT_EQ(ids(half), "UNSUPPORTED_QUERY product_by_id_name/line_3\n");
  EXPECT_EQ(half.queries[1].bound, "1");
}

// Sorting by price works, but two products with one price are one row. The guide does not mention that.
TEST(Seeds, ProductsSortedByPrice) {
  const Review review = review_of(R"(
create table product_by_release_Year_and_size (id text, name text, release_year text, price decimal, color int,
  size text, PRIMARY KEY((release_year,size), price, color));
SELECT * from product_by_release_Year_and_size where release_year = '2015' and size = 'large';
SELECT * from product_by_release_Year_and_size where release_year = '2015' and size = 'large' and price > 1000;
SELECT * from product_by_release_Year_and_size where release_year = '2015' and size = 'large' and price = 1000 and color > 20;
SELECT * from product_by_release_Year_and_size where release_year = '2015' and size = 'large' and price > 1000 and color > 20;
SELECT * from product_by_release_Year_and_size where release_year = '2015' and size = 'large' and color > 20;
)");
  for (size_t i = 0; i < review.queries.size(); ++i) EXPECT_EQ(review.queries[i].supported, i < 3) << i;
  const Review price = review_of(R"(
create table by_price (id text, name text, release_year text, price decimal, size text,
  PRIMARY KEY((release_year,size), price));
)");
  ASSERT_NE(find(price, Verdict::key_collision), nullptr) << ids(price);
  EXPECT_THAT(find(price, Verdict::key_collision)->cql,
              HasSubstr("PRIMARY KEY ((release_year, size), price, id)"));
}

// --- Logs and time series

// The guide's table by hour and event type is no longer hot, but rows of the same millisecond collide, since
// the id is not part of the key.
TEST(Seeds, LogTableAsPrinted) {
  const std::string load = R"(
-- @table events growth=5000/s row=100
-- @column events.hour growth=1/h
-- @column events.event_type distinct=20
-- @target partition=2GB
)";
  const Review printed = review_of(R"(
CREATE TABLE events (hour TIMESTAMP, id TIMEUUID, time TIMESTAMP, event_type TEXT, data text,
  PRIMARY KEY((hour, event_type), time)) WITH CLUSTERING ORDER BY (time DESC);)" +
                                   load);
  EXPECT_EQ(ids(printed), "KEY_COLLISION events\n");
  EXPECT_EQ(printed.findings[0].severity, Severity::error);
  const Review fixed = review_of(R"(
CREATE TABLE events (hour TIMESTAMP, id TIMEUUID, time TIMESTAMP, event_type TEXT, data text,
  PRIMARY KEY((hour, event_type), time, id)) WITH CLUSTERING ORDER BY (time DESC, id DESC);)" +
                                 load);
  EXPECT_EQ(ids(fixed), "");
  const Review by_hour = review_of(R"(
CREATE TABLE events (hour TIMESTAMP, id TIMEUUID, time TIMESTAMP, event_type TEXT, data text,
  PRIMARY KEY(hour, time, id));)" + load);
  EXPECT_NE(find(by_hour, Verdict::hot_partition), nullptr) << ids(by_hour);
}

TEST(Seeds, TimeSeriesKeysCollide) {
  for (const char* table :
       {"CREATE TABLE series (created_at timestamp, name varchar, event_type varchar, PRIMARY KEY (name, "
        "created_at));",
        "CREATE TABLE series (name varchar, rating int, time timestamp, PRIMARY KEY (name, time));"}) {
    const Review review =
        review_of(std::string(table) +
                  "\n-- @table series rows=1M partitions=1000 growth=50/s retention=1d arrival=random\n");
    ASSERT_NE(find(review, Verdict::key_collision), nullptr) << ids(review);
    EXPECT_EQ(find(review, Verdict::key_collision)->severity, Severity::error);
  }
  const Review unique = review_of(R"(
CREATE TABLE series (created_at timeuuid, name varchar, event_type varchar, PRIMARY KEY (name, created_at));
-- @table series rows=1M partitions=1000 growth=50/s retention=1d
)");
  EXPECT_EQ(ids(unique), "");
}

// --- Correct examples

TEST(Seeds, PagesAndCountersAreFine) {
  const Review pages = review_of(R"(
CREATE TABLE users (age int, name varchar, city varchar, PRIMARY KEY (name));
-- @table users rows=1M
SELECT * FROM users LIMIT 5;
SELECT * FROM users WHERE token(name) > token('Viola') LIMIT 5;
)");
  EXPECT_EQ(ids(pages), "");
  const Review counters = review_of(R"(
CREATE TABLE event_metrics (hour timestamp, event_type text, count counter, PRIMARY KEY (hour, event_type));
CREATE TABLE url_metrics (hour timestamp, url text, count counter, PRIMARY KEY (hour, url));
BEGIN COUNTER BATCH
 UPDATE event_metrics SET count = count + 1 WHERE hour = '2013-06-13 11:00:00' AND event_type = 'click';
 UPDATE url_metrics SET count = count + 1 WHERE hour = '2013-06-13 11:00:00' AND url = 'http://example.com';
APPLY BATCH;
)");
  EXPECT_EQ(ids(counters), "");
  const Review range = review_of(R"(
CREATE TABLE user_events (created_at timeuuid, name varchar, event_type varchar, PRIMARY KEY (name, created_at));
SELECT * FROM user_events WHERE name='Alex' AND created_at > minTimeuuid('2012-01-01 12:20') AND
  created_at < maxTimeuuid('2012-01-01 12:40');
)");
  EXPECT_EQ(ids(range), "");
  EXPECT_EQ(range.queries[0].bound, "1");
}

}  // namespace
}  // namespace sibyl::advisor
