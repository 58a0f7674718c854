// Judgement about models that the rules were not written for: missing numbers, declared distributions,
// overwriting, and fixes that would have faults of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "advisor/review/test_review.h"
#include "advisor/workload/spread.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;
using testing::Not;

const Finding& must_find(const Review& review, Verdict verdict) {
  static const Finding none;
  const Finding* finding = find(review, verdict);
  EXPECT_NE(finding, nullptr) << to_string(verdict) << " not in\n" << ids(review);
  return finding != nullptr ? *finding : none;
}

// --- Missing numbers

TEST(MissingNumbers, ATableThatGrowsStartsEmpty) {
  for (const char* rows : {"", " rows=0"}) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE readings (sensor int, at timeuuid, value double, PRIMARY KEY (sensor, at));
-- @table readings growth=1000/s row=100{}
-- @column readings.sensor distinct=100
)",
                                                rows));
    const TableReview& table = review.tables.at(0);
    ASSERT_TRUE(table.horizon.has_value()) << rows;
    EXPECT_NEAR(table.horizon->p50, 10 * 365 * 86'400.0 * 100, 0.01 * table.horizon->p50);
    EXPECT_EQ(table.growth.front().sizes.max, 0);
    EXPECT_EQ(must_find(review, Verdict::partition_growth).severity, Severity::error);
  }
}

TEST(MissingNumbers, UnknownSizesAreNotOk) {
  const Review review = review_of(R"(
CREATE TABLE readings (sensor int, at timeuuid, value double, PRIMARY KEY (sensor, at));
-- @table readings growth=1000/s row=100
)");
  const Finding& finding = must_find(review, Verdict::unknown_size);
  EXPECT_THAT(finding.message, HasSubstr("at least 31,536 of them")) << "3.15 TB in partitions of 100 MB";
  EXPECT_THAT(finding.fix, HasSubstr("-- @column readings.sensor distinct=N"));
  EXPECT_THAT(finding.fix, HasSubstr("add a period of at to the partition key"));
  // Small tables have no large partitions, whatever the number of partitions.
  EXPECT_EQ(
      ids(review_of("CREATE TABLE t (k int, c uuid, PRIMARY KEY (k, c));\n-- @table t rows=1000 row=100\n")),
      "");
}

TEST(MissingNumbers, ATableByAColumnOfUnknownValuesSaysWhatIsMissing) {
  const auto by_status = [](const char* values) {
    return review_of(fmt::format(R"(
CREATE TABLE orders (id uuid PRIMARY KEY, status text, total decimal);
-- @table orders rows=20M row=100
{}
SELECT * FROM orders WHERE status = 'open' ALLOW FILTERING;
)",
                                 values));
  };
  const Review unknown_review = by_status("");
  const Finding& unknown = must_find(unknown_review, Verdict::full_scan);
  EXPECT_THAT(unknown.fix,
              testing::StartsWith("The number of values of status is not declared: with fewer than 20"));
  const Review few_review = by_status("-- @column orders.status distinct=5");
  const Finding& few = must_find(few_review, Verdict::full_scan);
  EXPECT_THAT(few.cql, HasSubstr("PRIMARY KEY ((status, hash_prefix), id)")) << "five partitions of 400 MB";
  const Review many_review = by_status("-- @column orders.status distinct=5000");
  const Finding& many = must_find(many_review, Verdict::full_scan);
  EXPECT_THAT(many.cql, HasSubstr("PRIMARY KEY (status, id)"));
  EXPECT_THAT(many.fix, Not(HasSubstr("not declared")));
}

// --- Distributions

TEST(Distributions, TheLargestPartitionReachesTheSpread) {
  const auto with = [](const char* largest) {
    return review_of(fmt::format(R"(
CREATE TABLE t (k int, c uuid, PRIMARY KEY (k, c));
-- @table t rows=1M partitions=1000 row=100{}
-- @target nodes=10 rf=1 partition=1GB
)",
                                 largest));
  };
  EXPECT_LT(with("").tables[0].spread->bytes, 1.6);
  const Review review = with(" max=800k");
  EXPECT_NEAR(review.tables[0].spread->bytes, 10 * (0.8 + 0.2 / 10), 0.3);
  EXPECT_THAT(must_find(review, Verdict::hot_partition).message, HasSubstr("holds 80% of all rows"));
  EXPECT_NEAR(review.tables[0].now->p50, 200e3 / 999 * 100, 1) << "the others share the rest";
}

TEST(Distributions, QuantilesAndGrowthTogether) {
  const Review review = review_of(R"(
CREATE TABLE t (k int, c timeuuid, PRIMARY KEY (k, c));
-- @table t partitions=1000 p50=100 p99=1000 max=2000 growth=10/s row=100
-- @target horizon=1d
)");
  const TableReview& table = review.tables.at(0);
  ASSERT_TRUE(table.rows.has_value()) << "they follow from the quantiles";
  EXPECT_GT(*table.rows, 100 * 1000);
  ASSERT_TRUE(table.horizon.has_value());
  EXPECT_NEAR(table.horizon->p50 / table.now->p50, 1 + 864e3 / *table.rows, 0.01) << "all grow alike";
  const Review lone = review_of(R"(
CREATE TABLE t (k int, c timeuuid, PRIMARY KEY (k, c));
-- @table t p50=100 growth=1000/s row=100
)");
  EXPECT_FALSE(lone.tables[0].horizon.has_value()) << "among how many partitions?";
  must_find(lone, Verdict::unknown_size);
}

TEST(Distributions, OfAnEmptyTableAreRefused) {
  const auto refused = review_workloads(
      {workload_of("CREATE TABLE t (k int, c int, PRIMARY KEY (k, c));\n-- @table t rows=0 max=100\n")}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message(), HasSubstr("test.cql:2"));
}

// --- Keys

TEST(Keys, NoClusteringColumnIsRemovedFromAGrowingTable) {
  const auto with = [](const char* numbers) {
    return review_of(fmt::format(R"(
CREATE TABLE t (k int, c timeuuid, v int, PRIMARY KEY (k, c));
-- @table t row=50 {}
)",
                                 numbers));
  };
  const Review still_review = with("rows=1M partitions=1M");
  const Finding& still = must_find(still_review, Verdict::too_unique);
  EXPECT_THAT(still.cql, HasSubstr("PRIMARY KEY (k)"));
  EXPECT_EQ(find(with("rows=1M partitions=1M growth=1/s"), Verdict::too_unique), nullptr);
  const Review nearly_review = with("rows=1M partitions=950k");
  EXPECT_EQ(must_find(nearly_review, Verdict::too_unique).cql, "") << "some have two rows";
}

TEST(Keys, AColumnIsUniqueOnlyIfItHasAsManyValuesAsThereAreRows) {
  const auto by_kind = [](int values) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE t (id uuid PRIMARY KEY, kind text, v int);
-- @table t rows=1766 row=50
-- @column t.kind distinct={}
SELECT * FROM t WHERE kind = ? ALLOW FILTERING;
)",
                                                values));
    std::string cql;
    for (const Finding& finding : review.findings) cql += finding.cql;
    return cql;
  };
  EXPECT_THAT(by_kind(1766), HasSubstr("PRIMARY KEY (kind)"));
  EXPECT_THAT(by_kind(1765), Not(HasSubstr("PRIMARY KEY (kind)"))) << "two rows have the same kind";
}

TEST(Keys, ThatAreTooFewForTheRows) {
  const auto first = [](const char* text) {
    const Review review = review_of(text);
    return must_find(review, Verdict::key_collision).message;
  };
  EXPECT_THAT(first("CREATE TABLE t (d int PRIMARY KEY, v int);\n-- @table t growth=10/s\n"
                    "-- @column t.d distinct=1000\n"),
              HasSubstr("The key has 1,000 possible values, which new rows fill within 1.7 minutes"));
  EXPECT_THAT(
      first("CREATE TABLE t (d int, day date, v int, PRIMARY KEY (d, day));\n-- @table t growth=10/s\n"
            "-- @column t.d distinct=1000\n"),
      HasSubstr("most rows overwrite another"));
  EXPECT_THAT(first("CREATE TABLE t (g int, m int, PRIMARY KEY (g, m));\n-- @table t rows=10000\n"
                    "-- @column t.g distinct=100 skew=zipf(1.5)\n-- @column t.m distinct=500\n"),
              HasSubstr("but its clustering key has 500 values"));
  // Such a table is meant to replace rows.
  EXPECT_EQ(ids(review_of("CREATE TABLE latest_values (d int PRIMARY KEY, at timestamp, v int);\n"
                          "-- @table latest_values rows=1000\n-- @write w rate=100/s\n"
                          "INSERT INTO latest_values (d, at, v) VALUES (?, ?, ?);")),
            "");
}

TEST(Keys, IntegersThatGrowWithTimeAreTimes) {
  const std::string text = R"(
CREATE TABLE m (channel int, id bigint, body text, PRIMARY KEY (channel, id)) WITH CLUSTERING ORDER BY (id DESC);
-- @table m growth=100/s row=100
-- @column m.channel distinct=50
-- @column m.id time=snowflake
-- @query latest rate=10/s
SELECT * FROM m WHERE channel = ? LIMIT 20;
)";
  const Review review = review_of(text);
  EXPECT_THAT(must_find(review, Verdict::partition_growth).fix, HasSubstr("Split by time"));
  EXPECT_EQ(find(review, Verdict::key_collision), nullptr) << "snowflakes are unique";
  std::string seconds = text;
  seconds.replace(seconds.find("time=snowflake"), 14, "time=s");
  EXPECT_THAT(must_find(review_of(seconds), Verdict::key_collision).message, HasSubstr("of the same second"));
}

// --- Reads

TEST(Filtering, FollowsTheRowsVisitedPerRow) {
  const auto severity = [](int distinct) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE t (k int, c uuid, kind int, PRIMARY KEY (k, c));
-- @table t rows=10M partitions=1000 row=50
-- @column t.kind distinct={}
SELECT * FROM t WHERE k = ? AND kind = ? ALLOW FILTERING;
)",
                                                distinct));
    return must_find(review, Verdict::allow_filtering).severity;
  };
  EXPECT_EQ(severity(1), Severity::note);
  EXPECT_EQ(severity(3), Severity::note);
  EXPECT_EQ(severity(30), Severity::warning);
  EXPECT_EQ(severity(5000), Severity::error);
}

TEST(TwoSteps, TheFirstQuerySuppliesTheValues) {
  const Review review = review_of(R"(
CREATE TABLE follows (follower uuid, followed uuid, PRIMARY KEY (follower, followed));
CREATE TABLE posts (author uuid, at timeuuid, body text, PRIMARY KEY (author, at)) WITH CLUSTERING ORDER BY (at DESC);
-- @table follows rows=10M partitions=100k p50=80 p99=900 max=5000
-- @table posts rows=500k partitions=100k
-- @group feed
-- @query followed
SELECT followed FROM follows WHERE follower = ?;
-- @query posts
SELECT * FROM posts WHERE author IN ? ORDER BY at DESC LIMIT 30;
)");
  const QueryReview* posts = review.find_query("posts");
  ASSERT_NE(posts, nullptr);
  EXPECT_EQ(posts->partitions, 100);
  EXPECT_EQ(posts->partitions_p50, 80);
  EXPECT_EQ(posts->partitions_p99, 900);
  EXPECT_THAT(posts->formula, HasSubstr("one per row of followed"));
  for (const Finding& finding : review.findings)
    if (finding.query == "posts" && finding.verdict == Verdict::multi_partition) {
      EXPECT_EQ(finding.severity, Severity::error) << "900 partitions at p99";
    }
  std::string cql;
  for (const Finding& finding : review.findings)
    if (finding.query == "feed") cql = finding.cql;
  EXPECT_THAT(cql, HasSubstr("PRIMARY KEY (follower, at")) << "rows come in the order that posts asks for";
  EXPECT_THAT(cql, HasSubstr("CLUSTERING ORDER BY (at DESC"));
}

// --- Fixes

TEST(Fixes, ThatWouldHaveFaultsSaySo) {
  // All writes would go to the few partitions of the new table. There are too many writes for a hash prefix
  // to spread them.
  const Review review = review_of(R"(
CREATE TABLE t (k uuid PRIMARY KEY, kind text, v int);
-- @table t rows=1M row=50 writes=900/s
-- @column t.kind distinct=2
-- @target partition_rate=100/s
SELECT * FROM t WHERE kind = ? ALLOW FILTERING;
)");
  const Finding& finding = must_find(review, Verdict::full_scan);
  EXPECT_THAT(finding.cql, HasSubstr("hash_prefix")) << "450 writes a second to each kind";
  EXPECT_EQ(finding.fix_kind, FixKind::new_table);
}

// --- Periods that are not declared

TEST(Periods, FollowFromTypesAndNames) {
  const auto width = [](const char* column) -> double {
    const Review review =
        review_of(fmt::format(R"(
CREATE TABLE readings (sensor int, {}, at timeuuid, value double, PRIMARY KEY ((sensor, {}), at));
-- @table readings growth=1000/s row=1
-- @column readings.sensor distinct=1000
)",
                              column, std::string(column).substr(0, std::string(column).find(' '))));
    const TableReview& table = review.tables.at(0);
    return table.horizon ? std::round(table.horizon->p50) : 0;
  };
  EXPECT_EQ(width("day date"), 86'400);
  EXPECT_EQ(width("d date"), 86'400);
  EXPECT_EQ(width("yyyymmdd text"), 86'400);
  EXPECT_EQ(width("hour timestamp"), 3600);
  EXPECT_EQ(width("hour_bucket int"), 3600);
  EXPECT_EQ(width("week int"), 7 * 86'400);
  EXPECT_EQ(width("year_month text"), 30 * 86'400);
  EXPECT_EQ(width("readingYear int"), 365 * 86'400);
  EXPECT_EQ(width("quarter_hour timestamp"), 900);
  EXPECT_EQ(width("bucket int"), 0) << "its length is not known";
  EXPECT_EQ(width("candidate int"), 0);
  EXPECT_EQ(width("day_of_week int"), 0) << "days of a week come again";
}

TEST(Periods, AnyColumnThatIsDeclaredToGrowIsOne) {
  const Review review = review_of(R"(
CREATE TABLE latest (shift text, added timestamp, video uuid, PRIMARY KEY (shift, added, video));
-- @table latest growth=10/s row=10
-- @column latest.shift growth=1/8h
-- @query page rate=3000/s
SELECT * FROM latest WHERE shift = ? LIMIT 20;
)");
  EXPECT_NEAR(review.tables.at(0).horizon->p50, 8 * 3600 * 100, 1000);
  EXPECT_THAT(must_find(review, Verdict::hot_partition).evidence.at(1).text,
              HasSubstr("100% of the reads on one key, in the current period"));
}

// --- Quantiles

TEST(Quantiles, AFewVeryLargePartitionsDoNotMakeTheOthersLarger) {
  const Review review = review_of(R"(
CREATE TABLE followers (user_id bigint, follower bigint, PRIMARY KEY (user_id, follower));
-- @table followers partitions=46M p50=30 p99=9000 max=80M
)");
  // 1% of the partitions have 9,000 to 80M rows, by a power law of exponent 0.7. The others follow one of
  // exponent 1.46.
  EXPECT_NEAR(*review.tables.at(0).rows, 21e9, 3e9);
}

TEST(Quantiles, APowerLawIsExact) {
  const double rows = 1e6 * zipf_sum(1000, 0.8);
  const auto at = [](double rank) { return 1e6 * std::pow(rank, -0.8); };
  const Review review = review_of(fmt::format(R"(
CREATE TABLE t (k int, c uuid, PRIMARY KEY (k, c));
-- @table t partitions=1000 p50={} p99={} max={}
)",
                                              at(500), at(10), at(1)));
  EXPECT_NEAR(*review.tables.at(0).rows, rows, 0.01 * rows);
}

// --- Overwriting by other statements

TEST(Overwriting, UpdatesOfTheTimeOverwriteAsInsertsDo) {
  const auto model = [](const char* column, double rate) {
    return review_of(fmt::format(R"(
CREATE TABLE power (meter text PRIMARY KEY, {0} timestamp, kwh double);
-- @table power rows=40k
-- @write put rate={1}/s
UPDATE power SET {0} = ?, kwh = ? WHERE meter = ?;
)",
                                 column, rate));
  };
  EXPECT_EQ(ids(model("read_at", 2700)), "KEY_COLLISION power\n");
  EXPECT_THAT(must_find(model("read_at", 2700), Verdict::key_collision).cql, HasSubstr("bucket timestamp"))
      << "the history is divided";
  EXPECT_EQ(ids(model("updated_at", 2700)), "");
  EXPECT_EQ(ids(model("read_at", 0.1)), "") << "once in four days";
}

TEST(Overwriting, AUuidOfAnotherThingRepeats) {
  const auto model = [](const char* table, const char* options) {
    return ids(review_of(fmt::format(R"(
CREATE TABLE {0} (trip_id uuid PRIMARY KEY, at timestamp, lat double){1};
-- @table {0} rows=1M
-- @write put rate=20k/s
INSERT INTO {0} (trip_id, at, lat) VALUES (?, ?, ?);
)",
                                     table, options)));
  };
  EXPECT_EQ(model("gps_track", ""), "KEY_COLLISION gps_track\n");
  EXPECT_EQ(model("city_trips", ""), "") << "a row of its own";
  EXPECT_EQ(model("gps_track", " WITH default_time_to_live = 50"), "");
  EXPECT_EQ(model("user_points", ""), "KEY_COLLISION user_points\n") << "not a table of users";
}

// --- Deletes

TEST(Tombstones, AFewDeletesAmongManyNewRowsAreNoQueue) {
  const auto found = [](const char* order, double deletes) {
    return ids(review_of(fmt::format(R"(
CREATE TABLE messages (channel int, at timeuuid, body text, PRIMARY KEY (channel, at)){};
-- @table messages growth=1500/s row=10 retention=30d
-- @column messages.channel distinct=500
-- @query newest
SELECT * FROM messages WHERE channel = ? LIMIT 50;
-- @write remove rate={}/s
DELETE FROM messages WHERE channel = ? AND at = ?;
)",
                                     order, deletes)));
  };
  const char* newest_first = " WITH CLUSTERING ORDER BY (at DESC)";
  EXPECT_EQ(found(newest_first, 20), "");
  EXPECT_EQ(found("", 20), "");
  EXPECT_EQ(found("", 1400), "TOMBSTONE_SCAN messages/newest\n") << "taken from the front";
  EXPECT_EQ(found(newest_first, 1400), "TOMBSTONE_SCAN messages/newest\n") << "50 / (1500 - 1400) x 1400";
}

// --- Indexes

TEST(Indexes, FewRowsOnManyNodesOrManyQueriesNeedATable) {
  const auto found = [](double values, double rate, int nodes) {
    return ids(review_of(fmt::format(R"(
CREATE TABLE sessions (id text PRIMARY KEY, user_id uuid);
CREATE INDEX ON sessions (user_id);
-- @table sessions rows=20M
-- @column sessions.user_id distinct={}
-- @target nodes={} rf=3
-- @query of_user rate={}/s
SELECT * FROM sessions WHERE user_id = ?;
)",
                                     values, nodes, rate)));
  };
  EXPECT_EQ(found(8e6, 20, 3), "INDEX_CARDINALITY sessions/of_user\n");
  EXPECT_EQ(found(2e6, 20, 3), "") << "ten rows on three nodes";
  EXPECT_EQ(found(2e6, 20, 30), "INDEX_CARDINALITY sessions/of_user\n");
  EXPECT_EQ(found(2e6, 5000, 3), "INDEX_CARDINALITY sessions/of_user\n") << "every node runs all of them";
}

// --- Columns that every statement gives

TEST(GivenColumns, JoinThePartitionKey) {
  const auto model = [](const char* more) {
    return review_of(fmt::format(R"(
CREATE TABLE emails (user_id uuid, folder text, received timeuuid, subject text,
  PRIMARY KEY (user_id, folder, received)) WITH CLUSTERING ORDER BY (folder ASC, received DESC);
-- @table emails rows=100M partitions=100k max=500k row=400
-- @query folder rate=30/s
SELECT * FROM emails WHERE user_id = ? AND folder = ? LIMIT 50;
{}
)",
                                 more));
  };
  const Review known = model("-- @column emails.folder distinct=9");
  const Finding& finding = must_find(known, Verdict::partition_growth);
  EXPECT_THAT(
      finding.cql,
      HasSubstr("PRIMARY KEY ((user_id, folder), received)\n) WITH CLUSTERING ORDER BY (received DESC)"));
  EXPECT_THAT(finding.fix, HasSubstr("Move folder from the clustering columns to the partition key"));
  EXPECT_THAT(finding.fix, Not(HasSubstr("would itself")));
  // 200 MB in three folders are too much for one partition per folder, so folders are divided further.
  const Review few = model("-- @column emails.folder distinct=2 skew=zipf(1)");
  EXPECT_THAT(must_find(few, Verdict::partition_growth).cql,
              HasSubstr("PRIMARY KEY ((user_id, folder, hash_prefix), received)"));
  const Review unknown = model("");
  EXPECT_THAT(must_find(unknown, Verdict::partition_growth).cql, Not(HasSubstr("(user_id, folder")));
  const Review whole = model("-- @column emails.folder distinct=9\nSELECT * FROM emails WHERE user_id = ?;");
  EXPECT_THAT(must_find(whole, Verdict::partition_growth).cql, Not(HasSubstr("(user_id, folder")))
      << "another read wants all folders";
}

TEST(GivenColumns, JoinTheKeyBeforeAPeriodDoes) {
  const Review review = review_of(R"(
CREATE TABLE mailbox (user_id int, folder text, received timeuuid, subject text,
  PRIMARY KEY (user_id, folder, received)) WITH CLUSTERING ORDER BY (folder ASC, received DESC);
-- @table mailbox rows=2M partitions=200 max=60k row=100 growth=20/s
-- @column mailbox.folder distinct=9
-- @target partition=2MB
-- @query newest rate=80/s
SELECT * FROM mailbox WHERE user_id = ? AND folder = ? LIMIT 50;
)");
  EXPECT_THAT(must_find(review, Verdict::partition_growth).cql,
              HasSubstr("PRIMARY KEY ((user_id, folder, bucket), received)"));
}

TEST(GivenColumns, RowsThatAreOnlyReadOneByOneNeedNoPartition) {
  const auto model = [](const char* more) {
    return review_of(fmt::format(R"(
CREATE TABLE likes (post uuid, user_id uuid, at timestamp, PRIMARY KEY (post, user_id));
-- @table likes partitions=30M p50=8 p99=4000 max=20M
-- @query liked rate=8000/s
SELECT at FROM likes WHERE post = ? AND user_id = ?;
{}
)",
                                 more));
  };
  const Review whole_review = model("");
  const Finding& whole = must_find(whole_review, Verdict::partition_growth);
  EXPECT_THAT(whole.cql, HasSubstr("PRIMARY KEY ((post, user_id))"));
  EXPECT_THAT(
      must_find(model("-- @write forget\nDELETE FROM likes WHERE post = ?;"), Verdict::partition_growth).cql,
      HasSubstr("hash_prefix"));
}

TEST(GivenColumns, SpreadFewPartitions) {
  const Review review = review_of(R"(
CREATE TABLE stock (country text, sku text, amount int, PRIMARY KEY (country, sku));
-- @table stock rows=4M partitions=8 row=20
-- @query one rate=10/s
SELECT * FROM stock WHERE country = ? AND sku = ?;
)");
  EXPECT_THAT(must_find(review, Verdict::low_cardinality).cql, HasSubstr("PRIMARY KEY ((country, sku))"));
}

// --- Ranges of time without a key

TEST(RangesOfTime, ATableByPeriodsServesThem) {
  const Review review = review_of(R"(
CREATE TABLE readings (station int, at timestamp, value double, PRIMARY KEY (station, at));
-- @table readings rows=40M partitions=900 growth=3/s arrival=regular
-- @query since rate=1/h
SELECT * FROM readings WHERE at > ?;
)");
  const Finding& finding = must_find(review, Verdict::unsupported_query);
  EXPECT_THAT(finding.cql, HasSubstr("PRIMARY KEY (day, at, station)"));
  EXPECT_THAT(finding.fix, Not(HasSubstr("advise.")));
}

TEST(RangesOfTime, LongerPeriodsAreATable) {
  const Review review = review_of(R"(
CREATE TABLE cpu (host text, minute timestamp, at timeuuid, load double, PRIMARY KEY ((host, minute), at));
-- @table cpu growth=500/s
-- @column cpu.host distinct=2500
-- @query day_graph span=1d rate=2/s
SELECT * FROM cpu WHERE host = ? AND minute = ?;
)");
  EXPECT_THAT(must_find(review, Verdict::multi_partition).cql, HasSubstr("PRIMARY KEY ((host, bucket), at)"));
}

}  // namespace
}  // namespace sibyl::advisor
