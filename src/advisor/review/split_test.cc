// Tests ways to split partitions: proposals match their figures and get no findings themselves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;
using testing::Not;

const Choice* chosen(const Finding* finding) {
  if (finding == nullptr) return nullptr;
  for (const Choice& choice : finding->choices)
    if (choice.chosen) return &choice;
  return nullptr;
}

// --- Proposals meet the targets

struct BadModel {
  const char* definition;
  const char* table;
  const char* numbers;  // statistics that are true for any split of the table
  const char* columns;  // declarations of key columns; {} stands for the table's name
  const char* targets;
  const char* queries;
};

std::string for_table(std::string text, const std::string& table) {
  for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}")) text.replace(at, 2, table);
  return text;
}

std::string statistics(const BadModel& bad, const std::string& table) {
  return fmt::format("-- @table {} {}\n{}{}", table, bad.numbers, for_table(bad.columns, table), bad.targets);
}

// The name of the first table that the CQL creates.
std::string created(const std::string& cql) {
  const size_t from = cql.find("CREATE TABLE ") + 13;
  return cql.substr(from, cql.find(" (", from) - from);
}

const std::map<std::string, BadModel>& bad_models() {
  static const std::map<std::string, BadModel> models = {
      {"newest ten",
       {"CREATE TABLE joins (g text, joined timeuuid, u text, PRIMARY KEY (g, joined)) WITH CLUSTERING ORDER "
        "BY "
        "(joined DESC);",
        "joins", "rows=1M growth=3000/d row=100", "-- @column {}.g distinct=1000\n",
        "-- @target partition=150kB horizon=3y\n",
        "-- @query q rate=100/s\nSELECT * FROM joins WHERE g = ? LIMIT 10;"}},
      {"a day of a channel",
       {"CREATE TABLE messages (channel uuid, day date, sent timeuuid, body text, PRIMARY KEY ((channel, "
        "day), "
        "sent)) WITH CLUSTERING ORDER BY (sent DESC);",
        "messages", "growth=2000/s row=300", "-- @column {}.channel distinct=200k skew=zipf(0.9)\n", "",
        "-- @column messages.day growth=1/d\n-- @query q rate=5000/s\nSELECT * FROM messages WHERE channel = "
        "? "
        "AND day = ? LIMIT 50;"}},
      {"oldest first",
       {"CREATE TABLE outbox (topic text, at timeuuid, body text, PRIMARY KEY (topic, at));", "outbox",
        "rows=100M growth=50/s row=200", "-- @column {}.topic distinct=50\n", "",
        "-- @query q rate=100/s\nSELECT * FROM outbox WHERE topic = ? LIMIT 10;"}},
      {"a log",
       {"CREATE TABLE logs (svc text, at timeuuid, line text, PRIMARY KEY (svc, at)) WITH CLUSTERING ORDER "
        "BY (at "
        "DESC);",
        "logs", "rows=600M growth=1000/s row=200", "-- @column {}.svc distinct=100\n", "",
        "-- @query q rate=50/s\nSELECT * FROM logs WHERE svc = ? LIMIT 500;"}},
      {"hot and growing",
       {"CREATE TABLE ticks (symbol text, at timeuuid, price double, size int, PRIMARY KEY (symbol, at)) "
        "WITH "
        "CLUSTERING ORDER BY (at DESC);",
        "ticks", "rows=100M growth=50000/s row=60", "-- @column {}.symbol distinct=100 skew=zipf(1)\n", "",
        "-- @query q rate=500/s\nSELECT * FROM ticks WHERE symbol = ? LIMIT 100;"}},
      {"hot and growing evenly, without a row size",
       {"CREATE TABLE ticks (symbol text, at timestamp, price double, PRIMARY KEY (symbol, at));", "ticks",
        "rows=100M growth=50000/s", "-- @column {}.symbol distinct=10\n", "",
        "-- @query q rate=500/s\nSELECT * FROM ticks WHERE symbol = ? ORDER BY at DESC LIMIT 100;"}},
      {"sensors with a row size",
       {"CREATE TABLE readings (sensor uuid, at timestamp, value double, PRIMARY KEY (sensor, at));",
        "readings", "rows=1e9 growth=1000/s row=40", "-- @column {}.sensor distinct=1000\n", "",
        "-- @query newest rate=50/s\nSELECT * FROM readings WHERE sensor = ? ORDER BY at DESC LIMIT 100;\n"
        "-- @query day rate=5/s\nSELECT * FROM readings WHERE sensor = ? AND at >= ? AND at < ?;"}},
      {"sensors without a row size",
       {"CREATE TABLE readings (sensor uuid, at timestamp, value double, PRIMARY KEY (sensor, at));",
        "readings", "rows=1e9 growth=1000/s", "-- @column {}.sensor distinct=1000\n", "",
        "-- @query newest rate=50/s\nSELECT * FROM readings WHERE sensor = ? ORDER BY at DESC LIMIT 100;\n"
        "-- @query day rate=5/s\nSELECT * FROM readings WHERE sensor = ? AND at >= ? AND at < ?;"}},
      {"few values in front",
       {"CREATE TABLE orders (tenant text, status text, id uuid, body text, PRIMARY KEY (tenant, status, "
        "id));",
        "orders", "rows=100M row=200", "-- @column {}.tenant distinct=50\n-- @column {}.status distinct=3\n",
        "", "-- @query q rate=1/s\nSELECT * FROM orders WHERE tenant = ? AND status = ?;"}},
      {"few values in front, without a row size",
       {"CREATE TABLE orders (tenant int, open boolean, id int, body text, PRIMARY KEY (tenant, open, id));",
        "orders", "rows=100M", "-- @column {}.tenant distinct=50\n", "",
        "-- @query q rate=1/s\nSELECT * FROM orders WHERE tenant = ?;"}},
      {"leaderboard",
       {"CREATE TABLE scores (game text, score bigint, player text, PRIMARY KEY (game, score, player)) WITH "
        "CLUSTERING ORDER BY (score DESC, player ASC);",
        "scores", "rows=100M row=60 writes=2000/s", "-- @column {}.game distinct=200 skew=zipf(1)\n", "",
        "-- @query q rate=3000/s\nSELECT player, score FROM scores WHERE game = ? LIMIT 100;"}},
      {"a flag",
       {"CREATE TABLE products (available boolean, id uuid, name text, PRIMARY KEY (available, id));",
        "products", "rows=10M", "-- @column {}.available distinct=2\n", "",
        "SELECT * FROM products WHERE available = ?;"}},
      {"uneven categories",
       {"CREATE TABLE products (category text, id uuid, name text, PRIMARY KEY (category, id));", "products",
        "rows=10M row=200 writes=4000/s", "-- @column {}.category distinct=50 skew=zipf(1)\n",
        "-- @target nodes=6\n", "-- @query q rate=10/s\nSELECT * FROM products WHERE category = ?;"}},
      {"an hour as the whole key",
       {"CREATE TABLE positions (hour timestamp, at timeuuid, bicycle uuid, PRIMARY KEY (hour, at));",
        "positions", "growth=6000/s row=80", "-- @column {}.hour growth=1/h\n", "-- @target partition=2GB\n",
        ""}},
      {"stations",
       {"CREATE TABLE trips (station int, started timeuuid, rider text, PRIMARY KEY (station, started)) WITH "
        "CLUSTERING ORDER BY (started DESC);",
        "trips", "rows=20M growth=40000/d", "-- @column {}.station distinct=8000 skew=zipf(0.8)\n",
        "-- @target partition=10MB horizon=5y\n",
        "-- @query q rate=300/s\nSELECT * FROM trips WHERE station = ? LIMIT 20;"}},
      {"counters",
       {"CREATE TABLE views (page text PRIMARY KEY, n counter);", "views", "writes=20000/s",
        "-- @column {}.page distinct=1000 skew=zipf(1.2)\n", "-- @target horizon=1d\n",
        "-- @query q rate=10/s\nSELECT * FROM views WHERE page = ?;"}},
  };
  return models;
}

// Reviews the generated definition with the same statistics.
TEST(ReviewSplit, ProposalsGetNoFindings) {
  for (const auto& [name, bad] : bad_models()) {
    const Review review =
        review_of(fmt::format("{}\n{}{}\n", bad.definition, statistics(bad, bad.table), bad.queries));
    const Finding* resolving = nullptr;
    for (const Finding& finding : review.findings)
      if (!finding.cql.empty() && finding.replaces == bad.table) resolving = &finding;
    ASSERT_NE(resolving, nullptr) << name << "\n" << ids(review);
    const Finding* split = find(review, Verdict::partition_growth);
    if (split == nullptr) split = find(review, Verdict::hot_partition);
    const Choice* choice = chosen(split);
    ASSERT_NE(choice, nullptr) << name;
    EXPECT_TRUE(choice->fits) << name;
    const std::string table = created(resolving->cql);
    std::string pasted = resolving->cql + "\n" + statistics(bad, table) + "\n";
    if (choice->width > 0)
      pasted += fmt::format("-- @column {}.bucket growth={:.10g}/d\n", table, 86'400 / choice->width);
    if (choice->modulo > 0)
      pasted += fmt::format("-- @column {}.{} distinct={:.0f}\n", table,
                            resolving->cql.find("shard int") != std::string::npos ? "shard" : "hash_prefix",
                            choice->modulo);
    const Review again = review_of(pasted);
    for (const Finding& finding : again.findings) {
      if (finding.verdict == Verdict::partition_growth || finding.verdict == Verdict::hot_partition) {
        ADD_FAILURE() << name << ": " << choice->name << "\n"
                      << finding.id() << " " << finding.message << "\n"
                      << pasted;
      }
    }
  }
}

// --- Partitions of one row

TEST(ReviewSplit, OneRowIsNotSplitByItsHash) {
  const Review large = review_of(R"(
CREATE TABLE docs (id uuid PRIMARY KEY, body blob);
-- @table docs rows=1000
-- @column docs.body size=150MB
)");
  const Finding* growth = find(large, Verdict::partition_growth);
  ASSERT_NE(growth, nullptr) << ids(large);
  EXPECT_EQ(growth->cql, "");
  EXPECT_THAT(growth->fix, HasSubstr("chunks"));
  EXPECT_TRUE(growth->choices.empty());
  const Finding* cell = find(large, Verdict::large_cell);
  ASSERT_NE(cell, nullptr);
  EXPECT_THAT(cell->cql, HasSubstr("PRIMARY KEY ((id, part), chunk)"));
  EXPECT_THAT(cell->cql, HasSubstr("-- part: chunk / 175, rounded down"));
  const Review hot = review_of(R"(
CREATE TABLE hot (k text PRIMARY KEY, v text);
-- @table hot rows=1000 skew=zipf(1.2) writes=20000/s
)");
  const Finding* writes = find(hot, Verdict::hot_partition);
  ASSERT_NE(writes, nullptr) << ids(hot);
  EXPECT_EQ(writes->cql, "");
  EXPECT_THAT(writes->fix, HasSubstr("one write in 5"));
  EXPECT_THAT(writes->fix, Not(HasSubstr("hash")));
}

TEST(ReviewSplit, HotCountersAreCountedInShards) {
  const Review review = review_of(R"(
CREATE TABLE views (page text PRIMARY KEY, n counter);
-- @table views rows=1000 skew=zipf(1.2)
-- @write hit rate=20000/s
UPDATE views SET n = n + 1 WHERE page = ?;
-- @query count rate=100/s
SELECT n FROM views WHERE page = ?;
)");
  const Finding* finding = find(review, Verdict::hot_partition);
  ASSERT_NE(finding, nullptr) << ids(review);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((page, shard))"));
  EXPECT_THAT(finding->cql, HasSubstr("-- shard: a random number from 0 to 4 for each write"));
  EXPECT_THAT(finding->fix, HasSubstr("adds up all"));
  ASSERT_NE(chosen(finding), nullptr);
  EXPECT_EQ(chosen(finding)->partitions, 5);
  EXPECT_LE(chosen(finding)->hottest_rate, 1000);
}

// --- Hashes

TEST(ReviewSplit, HashesUseColumnsWithEnoughValues) {
  const auto review = [](const char* distinct) {
    return review_of(fmt::format(R"(
CREATE TABLE orders (tenant text, status text, id uuid, body text, PRIMARY KEY (tenant, status, id));
-- @table orders rows=100M partitions=50 row=200
-- @column orders.status distinct={}
-- @query some rate=1/s
SELECT * FROM orders WHERE tenant = ? AND status = ?;
-- @write forget rate=1/d
DELETE FROM orders WHERE tenant = ?;
)",
                                 distinct));
  };
  const Review few = review("3");
  EXPECT_THAT(find(few, Verdict::partition_growth)->cql, HasSubstr("hash of status and id modulo 5"));
  EXPECT_EQ(chosen(find(few, Verdict::partition_growth))->partitions, 5);
  const Review plenty = review("100k");
  EXPECT_THAT(find(plenty, Verdict::partition_growth)->cql, HasSubstr("hash of status modulo "));
  EXPECT_EQ(chosen(find(plenty, Verdict::partition_growth))->partitions, 1)
      << "each read gives the hashed column";
  // Without another column, the hash has only three values. They fill at most three of five partitions,
  // unevenly.
  const Review only = review_of(R"(
CREATE TABLE sums (tenant text, status text, total blob, PRIMARY KEY (tenant, status));
-- @table sums rows=300 partitions=100
-- @column sums.status distinct=3
-- @column sums.total size=900kB
-- @target partition=2MB
)");
  const Finding* finding = find(only, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr) << ids(only);
  for (const Choice& choice : finding->choices) EXPECT_GE(choice.largest_bytes, 900e3) << choice.name;
}

TEST(ReviewSplit, SecondTableHoldsOnlyTheFirstRows) {
  const Review review = review_of(R"(
CREATE TABLE scores (game text, score bigint, player text, PRIMARY KEY (game, score, player))
  WITH CLUSTERING ORDER BY (score DESC, player ASC);
-- @table scores rows=100M partitions=200 row=60 skew=zipf(1) writes=2000/s
-- @query top rate=3000/s
SELECT player, score FROM scores WHERE game = ? LIMIT 100;
)");
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr) << ids(review);
  ASSERT_NE(chosen(finding), nullptr);
  EXPECT_TRUE(chosen(finding)->second_table) << chosen(finding)->name;
  EXPECT_THAT(finding->cql,
              HasSubstr("-- @table scores_to_read rows=40000 partitions=200 max=200 growth=0/s\n"));
  EXPECT_THAT(finding->cql, HasSubstr("only the first 100 rows of each key"));
  EXPECT_THAT(finding->fix, HasSubstr("delete the others when it holds twice as many"));
  // The rows are too large to keep even 100 per key, so no such table is proposed.
  const Review large = review_of(R"(
CREATE TABLE scores (game text, score bigint, replay blob, PRIMARY KEY (game, score));
-- @table scores rows=1M partitions=200 row=1MB writes=20/s
-- @query top rate=3000/s
SELECT * FROM scores WHERE game = ? LIMIT 100;
)");
  for (const Choice& choice : find(large, Verdict::partition_growth)->choices)
    EXPECT_FALSE(choice.second_table && choice.fits) << choice.name;
}

// --- Time

TEST(ReviewSplit, SeveralWidthsAreListedWithTheirCost) {
  const Review review = review_of(newest_ten_of_three_a_day);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  ASSERT_GE(finding->choices.size(), 4u);
  const double partitions[] = {1.83, 1.48, 1.24, 1.11};
  const char* names[] = {"time bucket of 4 days", "time bucket of 7 days", "time bucket of 14 days",
                         "time bucket of 30 days"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(finding->choices[i].name, names[i]);
    EXPECT_NEAR(finding->choices[i].partitions, partitions[i], 0.01);
    EXPECT_TRUE(finding->choices[i].fits);
    if (i > 0) {
      EXPECT_LT(*finding->choices[i].cost, *finding->choices[i - 1].cost);
    }
  }
  EXPECT_TRUE(finding->choices[0].chosen) << "an eighth more cost for partitions of an eighth of the size";
}

TEST(ReviewSplit, BucketsAreShorterThanADayOnlyIfTheTargetRequiresIt) {
  const auto width = [](const char* growth, const char* limit) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE logs (svc text, at timeuuid, line text, PRIMARY KEY (svc, at)) WITH CLUSTERING ORDER BY (at DESC);
-- @table logs rows=600M partitions=100 growth={} row=200
-- @query tail rate=50/s
SELECT * FROM logs WHERE svc = ? LIMIT {};
)",
                                                growth, limit));
    const Choice* choice = chosen(find(review, Verdict::partition_growth));
    return choice != nullptr ? choice->width : 0;
  };
  EXPECT_EQ(width("1000/s", "500"), 12 * 3600) << "not the minute in which 500 rows arrive";
  EXPECT_EQ(width("100/s", "500"), 86'400);
}

// Range reads favour wide buckets more than reads of the newest rows favour narrow ones.
TEST(ReviewSplit, CheapestWidthByRates) {
  const auto widest = [](const char* rate) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE readings (sensor uuid, at timeuuid, value double, PRIMARY KEY (sensor, at))
  WITH CLUSTERING ORDER BY (at DESC);
-- @table readings rows=1e9 partitions=1000 growth=1000/s row=60
-- @query newest rate=1000/s
SELECT * FROM readings WHERE sensor = ? LIMIT 100;
-- @query since rate={}
SELECT * FROM readings WHERE sensor = ? AND at > ?;
)",
                                                rate));
    return chosen(find(review, Verdict::partition_growth))->width / 86'400;
  };
  EXPECT_EQ(widest("1/d"), 1);
  EXPECT_GE(widest("1000/s"), 7);
}

TEST(ReviewSplit, ReadsOfTheOldestRowsNeedAllBuckets) {
  const auto review = [](const char* order, const char* where) {
    return review_of(fmt::format(R"(
CREATE TABLE outbox (topic text, at timeuuid, body text, PRIMARY KEY (topic, at)){};
-- @table outbox rows=100M partitions=50 growth=50/s row=200
-- @query some rate=100/s
SELECT * FROM outbox WHERE topic = ?{} LIMIT 10;
)",
                                 order, where));
  };
  const Review oldest = review("", "");
  const Finding* finding = find(oldest, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->fix, Not(HasSubstr("goes back")));
  EXPECT_THAT(finding->cost, HasSubstr("remember their position (at > ?)"));
  for (const Choice& choice : finding->choices)
    if (choice.width > 0) {
      EXPECT_GT(choice.partitions, 50) << choice.name;
    }
  // Reads that start at a bound, or that return the latest rows first, need few buckets in either clustering
  // order.
  const Review onward = review("", " AND at > ?");
  EXPECT_THAT(find(onward, Verdict::partition_growth)->fix, HasSubstr("the bucket of its bound"));
  EXPECT_LT(chosen(find(onward, Verdict::partition_growth))->partitions, 1.1);
  const Review latest = review(" WITH CLUSTERING ORDER BY (at DESC)", "");
  EXPECT_THAT(find(latest, Verdict::partition_growth)->fix, HasSubstr("goes back"));
  EXPECT_LT(chosen(find(latest, Verdict::partition_growth))->partitions, 1.1);
  const Review against = review(" WITH CLUSTERING ORDER BY (at DESC)", " ORDER BY at ASC");
  EXPECT_THAT(find(against, Verdict::partition_growth)->cost, HasSubstr("remember their position"));
}

TEST(ReviewSplit, LongPeriodsAreReplacedByShorterOnes) {
  const BadModel& chat = bad_models().at("a day of a channel");
  const Review review =
      review_of(fmt::format("{}\n{}{}\n", chat.definition, statistics(chat, chat.table), chat.queries));
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  ASSERT_NE(chosen(finding), nullptr);
  EXPECT_GE(chosen(finding)->width, 1800);
  EXPECT_LT(chosen(finding)->width, 86'400);
  EXPECT_LT(chosen(finding)->partitions, 24) << "at most those of a day";
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((channel, bucket), sent)"));
  EXPECT_THAT(finding->cql, Not(HasSubstr("day date")));
  EXPECT_THAT(finding->fix, HasSubstr("instead of one for every day of day"));
}

TEST(ReviewSplit, HotAndGrowingTablesGetBothSplits) {
  const BadModel& ticks = bad_models().at("hot and growing");
  const Review review =
      review_of(fmt::format("{}\n{}{}\n", ticks.definition, statistics(ticks, ticks.table), ticks.queries));
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  const Choice* choice = chosen(finding);
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(choice->modulo, 10);
  EXPECT_GT(choice->width, 600);
  EXPECT_LT(choice->partitions, 12);
  EXPECT_LE(choice->hottest_rate, 1000);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((symbol, bucket, hash_prefix), at)"));
  EXPECT_THAT(finding->cql, HasSubstr("-- hash_prefix: hash of at modulo 10\n"));
  EXPECT_THAT(finding->fix, HasSubstr("starts with all 10 prefixes of the current bucket"));
  for (const Choice& each : finding->choices)
    EXPECT_THAT(each.name, Not(testing::ContainsRegex("[0-9]k"))) << "numbers are written out";
}

}  // namespace
}  // namespace sibyl::advisor
