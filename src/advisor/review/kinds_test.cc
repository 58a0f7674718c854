// Tests each kind of judgement: a model with the fault next to a similar one without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string fix_of(const Review& review, Verdict verdict) {
  const Finding* finding = find(review, verdict);
  EXPECT_NE(finding, nullptr) << to_string(verdict) << " not in\n" << ids(review);
  return finding != nullptr ? finding->fix + "\n" + finding->cql : std::string();
}

// --- Overwriting

Review inserted(const std::string& table, const std::string& key, const std::string& time) {
  return review_of(fmt::format(R"(
CREATE TABLE {0} ({1} text PRIMARY KEY, {2} timestamp, value double);
-- @table {0} rows=10k
-- @write put rate=1000/s
INSERT INTO {0} ({1}, {2}, value) VALUES (?, ?, ?);
)",
                               table, key, time));
}

TEST(Kinds, ATimeOfAReadingIsLostWhenTheRowIsReplaced) {
  const Finding* finding = find(inserted("gauge_values", "gauge", "at"), Verdict::key_collision);
  ASSERT_NE(finding, nullptr);
  const Review own = inserted("gauges", "gauge_id", "at");
  ASSERT_NE(find(own, Verdict::key_collision), nullptr);
  EXPECT_EQ(find(own, Verdict::key_collision)->severity, Severity::note) << "the present state, perhaps";
}

TEST(Kinds, ATimeOfAStateIsMeantToBeReplaced) {
  for (const char* time : {"updated_at", "last_seen", "modified", "expires", "changed_on"})
    EXPECT_EQ(ids(inserted("gauge_values", "gauge", time)), "") << time;
}

TEST(Kinds, OfSeveralKeyColumnsToo) {
  const auto with = [](const char* name, const char* rate) {
    return review_of(fmt::format(R"(
CREATE TABLE {0} (device text, sensor text, at timestamp, v double, PRIMARY KEY (device, sensor));
-- @table {0} rows=100k partitions=10k
-- @write put rate={1}
INSERT INTO {0} (device, sensor, at, v) VALUES (?, ?, ?, ?);
)",
                                 name, rate));
  };
  EXPECT_NE(find(with("sensor_log", "3000/s"), Verdict::key_collision), nullptr);
  EXPECT_EQ(ids(with("sensor_log", "3/s")), "") << "a key is inserted less than once an hour";
  EXPECT_EQ(ids(with("latest_values", "3000/s")), "");
}

TEST(Kinds, ATableThatKeepsEveryRowIsDivided) {
  const Review review = review_of(R"(
CREATE TABLE gauge_values (gauge text PRIMARY KEY, at timestamp, value double);
-- @table gauge_values rows=1000
-- @write put rate=1000/s
INSERT INTO gauge_values (gauge, at, value) VALUES (?, ?, ?);
)");
  const std::string fix = fix_of(review, Verdict::key_collision);
  EXPECT_THAT(fix, HasSubstr("As the table then keeps every row: Split by time"));
  EXPECT_THAT(fix, HasSubstr("PRIMARY KEY ((gauge, bucket), at)"));
  EXPECT_THAT(fix, Not(HasSubstr("would itself")));
}

TEST(Kinds, UnevenKeysOverwriteMore) {
  const auto with = [](const char* more) {
    return review_of(fmt::format(R"(
CREATE TABLE visits (person int, day date, place text, PRIMARY KEY (person, day));
-- @table visits growth=5000/d row=30{}
)",
                                 more));
  };
  EXPECT_EQ(ids(with("\n-- @column visits.person distinct=10k")), "");
  const Review uneven = with("\n-- @column visits.person distinct=10k skew=zipf(1.0)");
  ASSERT_NE(find(uneven, Verdict::key_collision), nullptr) << ids(uneven);
  EXPECT_THAT(find(uneven, Verdict::key_collision)->message, HasSubstr("The busiest keys get more rows"));
  EXPECT_NE(find(with(" arrival=random\n-- @column visits.person distinct=10k"), Verdict::key_collision),
            nullptr);
}

// --- Distributions

TEST(Kinds, UnevenColumnsMultiply) {
  const auto largest = [](const char* first, const char* second) {
    return review_of(fmt::format(R"(
CREATE TABLE t (a int, b int, c uuid, PRIMARY KEY ((a, b), c));
-- @table t rows=1M row=100
-- @column t.a distinct=100{}
-- @column t.b distinct=100{}
)",
                                 first, second))
        .tables[0]
        .now->max;
  };
  const double top = 1 / zipf_sum(100, 1.0);
  EXPECT_NEAR(largest(" skew=zipf(1)", " skew=zipf(1)"), 1e8 * top * top, 1e3);
  EXPECT_NEAR(largest(" skew=zipf(1)", ""), 1e8 * top / 100, 0.2e8 * top / 100);
}

TEST(Kinds, StaticColumnsAreStoredOncePerPartition) {
  const TableReview table = review_of(R"(
CREATE TABLE t (k int, c uuid, profile text static, PRIMARY KEY (k, c));
-- @table t rows=10k
-- @column t.k distinct=1000 skew=zipf(1.0)
-- @column t.profile size=100kB
)")
                                .tables[0];
  EXPECT_NEAR(table.now->p50, 100e3, 2e3);
  EXPECT_NEAR(table.now->max, 100e3 + 1336 * 49, 5e3) << "1,336 rows of 49 bytes, and one profile";
}

TEST(Kinds, ElementsOfACollectionHaveASize) {
  const auto with = [](const char* type) {
    return find(review_of(fmt::format("CREATE TABLE t (k int PRIMARY KEY, m {});\n-- @table t rows=10\n"
                                      "-- @column t.m fanout=100 max=5000\n",
                                      type)),
                Verdict::large_cell) != nullptr;
  };
  EXPECT_FALSE(with("set<int>"));
  EXPECT_TRUE(with("list<frozen<vector<float, 128>>>"));
}

// --- Deletes

TEST(Kinds, ComingAndGoingLeavesTombstones) {
  const auto with = [](const char* keys, const char* values) {
    return review_of(fmt::format(R"(
CREATE TABLE present (room int, guest uuid, PRIMARY KEY (room, guest));
-- @table present rows=20M row=50 growth=0/s
-- @column present.room distinct={}
{}
-- @write leave rate=300/s
DELETE FROM present WHERE room = ? AND guest = ?;
-- @query who rate=100/s
SELECT * FROM present WHERE room = ?;
)",
                                 keys, values));
  };
  const Review few = with("40", "");
  EXPECT_THAT(fix_of(few, Verdict::tombstone_scan), HasSubstr("gc_grace_seconds = 133"));
  EXPECT_EQ(find(with("2M", ""), Verdict::tombstone_scan), nullptr) << "129 tombstones per partition";
  EXPECT_EQ(find(with("40", "-- @column present.guest distinct=500"), Verdict::tombstone_scan), nullptr)
      << "the same guests come back";
}

// --- Load

TEST(Kinds, CountersOfOneRowAreSharded) {
  const Review review = review_of(R"(
CREATE TABLE likes (post uuid PRIMARY KEY, n counter);
-- @table likes rows=50M
-- @write like rate=30k/s skew=zipf(1.1)
UPDATE likes SET n = n + 1 WHERE post = ?;
)");
  const std::string fix = fix_of(review, Verdict::hot_partition);
  EXPECT_THAT(fix, HasSubstr("Count each key in 4 rows"));
  EXPECT_THAT(fix, HasSubstr("PRIMARY KEY ((post, shard))"));
}

TEST(Kinds, ATimeAsTheWholeKeyIsNoHotPeriod) {
  const Review review =
      review_of("CREATE TABLE t (at timestamp PRIMARY KEY, v int);\n-- @table t growth=2500/s row=90\n");
  EXPECT_EQ(ids(review), "KEY_COLLISION t\n");
}

TEST(Kinds, ASmallTableNeedsNoSpread) {
  const auto with = [](const char* rows) {
    return find(review_of(fmt::format("CREATE TABLE t (k int, c uuid, PRIMARY KEY (k, c));\n"
                                      "-- @table t rows={} partitions=20 row=50\n",
                                      rows)),
                Verdict::low_cardinality) != nullptr;
  };
  EXPECT_FALSE(with("200k"));
  EXPECT_TRUE(with("200M"));
}

// --- Fixes

TEST(Kinds, ASplitOfUnevenKeysIsHeldToTheirDistribution) {
  const Review review = review_of(R"(
CREATE TABLE tickets (tenant uuid, id timeuuid, body text, PRIMARY KEY (tenant, id));
-- @table tickets rows=40M row=900
-- @column tickets.tenant distinct=3000 skew=zipf(1.0)
-- @query one rate=300/s
SELECT * FROM tickets WHERE tenant = ? AND id = ?;
)");
  const std::string fix = fix_of(review, Verdict::partition_growth);
  EXPECT_THAT(fix, Not(HasSubstr("would itself")));
  EXPECT_THAT(find(review, Verdict::partition_growth)->cost, HasSubstr("No cost for the present statements"));
  const Review days = review_of(R"(
CREATE TABLE trades (symbol text, day date, at timeuuid, price decimal, PRIMARY KEY ((symbol, day), at));
-- @table trades growth=3000/s row=60
-- @column trades.symbol distinct=4000 skew=zipf(0.9)
-- @column trades.day growth=1/d
-- @query slice rate=50/s
SELECT * FROM trades WHERE symbol = ? AND day = ? AND at > ?;
)");
  EXPECT_THAT(fix_of(days, Verdict::partition_growth), Not(HasSubstr("would itself")));
}

// If a column has as many values as there are rows, its values identify rows. If it has more values, some may
// occur twice.
TEST(Kinds, PossibleValuesDoNotIdentifyRows) {
  const auto key = [](const char* distinct) {
    return fix_of(review_of(fmt::format(R"(
CREATE TABLE t (status text, at timeuuid, code int, PRIMARY KEY (status, at));
-- @table t rows=100k partitions=3
-- @column t.code distinct={}
SELECT * FROM t WHERE status = ? AND code = ? ALLOW FILTERING;
)",
                                        distinct)),
                  Verdict::allow_filtering);
  };
  EXPECT_THAT(key("100k"), HasSubstr("PRIMARY KEY ((status, code))"));
  EXPECT_THAT(key("103k"), HasSubstr("PRIMARY KEY ((status, code), at)"));
}

// There are as many keys as rows, but one of the keys is known to have most rows.
TEST(Kinds, AKnownLargePartitionKeepsItsClustering) {
  const Review review = review_of(R"(
CREATE TABLE t (owner int, at bigint, note text, PRIMARY KEY (owner, at));
-- @table t row=10000 rows=519 max=438
-- @column t.owner distinct=519
-- @column t.at time=snowflake
-- @target partition=2MB
)");
  EXPECT_EQ(find(review, Verdict::too_unique), nullptr) << ids(review);
  EXPECT_THAT(fix_of(review, Verdict::partition_growth), HasSubstr("hash_prefix), at)"));
}

// --- Errors

std::string refused(const std::string& text) {
  auto workload = parse_workload(text, "m.cql");
  if (!workload) return workload.error().text();
  const auto review = review_workloads({*workload}, {});
  return review ? "accepted" : review.error().text();
}

TEST(Kinds, ErrorsNameTheLineAndTheWord) {
  const std::string table = "CREATE TABLE t (k int,\n c int,\n PRIMARY KEY (k, c));\n";
  EXPECT_THAT(refused(table + "-- @tabel t rows=1\n"), HasSubstr("m.cql:4:5: unknown directive 'tabel'"));
  EXPECT_THAT(refused(table + "-- @tabel t rows=1\n"), HasSubstr("did you mean 'table'?"));
  EXPECT_THAT(refused(table + "\n-- @table t rwos=1\n"), HasSubstr("m.cql:5:13: unknown option 'rwos'"));
  EXPECT_THAT(refused(table + "\n-- @table t rwos=1\n"), HasSubstr("did you mean 'rows'?"));
  EXPECT_THAT(refused("CREATE TABLE t (k int,\n c int,\n v txet,\n PRIMARY KEY (k, c));\n"),
              HasSubstr("m.cql:3:"));
  EXPECT_THAT(refused(table + "SELECT *\nFROM t\nWHERE k = ? OR c = 1;\n"), HasSubstr("m.cql:6:"));
}

TEST(Kinds, InsertsIntoASummaryOfAPeriodReplaceIt) {
  const auto model = [](const char* key, const char* more) {
    return review_of(fmt::format(R"(
CREATE TABLE steps (person uuid, {}, n int{}, PRIMARY KEY (person, {}));
-- @column steps.person distinct=1M
-- @write sync rate=2000/s
INSERT INTO steps (person, {}, n) VALUES (?, ?, ?);
)",
                                 key, more, std::string(key).substr(0, std::string(key).find(' ')),
                                 std::string(key).substr(0, std::string(key).find(' '))));
  };
  for (const char* key : {"day date", "yyyymmdd text", "day timestamp"}) {
    const Review review = model(key, "");
    EXPECT_EQ(ids(review), "") << key;
    EXPECT_NEAR(review.tables.at(0).horizon->p50, 365 * review.tables.at(0).row_bytes, 1000) << key;
  }
  // These rows are not summaries: they have a time of their own, or a key that distinguishes moments.
  EXPECT_EQ(ids(model("day date", ", at timestamp")), "KEY_COLLISION steps\n");
  EXPECT_EQ(ids(model("added_date timestamp", "")), "KEY_COLLISION steps\n");
}

TEST(Kinds, NewRowsAreWritesBesideTheStatementsOfAFile) {
  const Review review = review_of(R"(
CREATE TABLE messages (channel int, day date, at timeuuid, body text, PRIMARY KEY ((channel, day), at));
-- @table messages growth=50k/s row=10
-- @column messages.channel distinct=20
-- @write remove rate=2/s
DELETE FROM messages WHERE channel = ? AND day = ? AND at = ?;
)");
  EXPECT_EQ(review.tables.at(0).writes, 50'000);
  EXPECT_NE(find(review, Verdict::hot_partition), nullptr);
}

TEST(Kinds, OneThingOfEachKeyIsMeantToBeReplaced) {
  const auto severity = [](const char* table, const char* key) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE {0} ({1} int PRIMARY KEY, at timestamp, value double);
-- @table {0} rows=40k
-- @write put rate=8000/s
INSERT INTO {0} ({1}, at, value) VALUES (?, ?, ?);
)",
                                                table, key));
    const Finding* finding = find(review, Verdict::key_collision);
    return finding != nullptr ? to_string(finding->severity) : "-";
  };
  EXPECT_STREQ(severity("vehicle_position", "vehicle"), "note");
  EXPECT_STREQ(severity("vehicle_position", "vehicle_id"), "note");
  EXPECT_STREQ(severity("room_balance", "room"), "-");
  for (const char* history : {"vehicle_positions", "vehicle_log", "vehicle_reading", "positions"})
    EXPECT_STREQ(severity(history, "vehicle"), "warning") << history;
}

TEST(Kinds, CollectionsAreJudgedByTheirElements) {
  struct Case {
    const char *type, *options, *change;
    const char *found, *why;
  };
  for (const Case& one : {
           Case{"list<text>", "fanout=20000", "", "warning", "20,000 elements"},
           Case{"list<text>", "fanout=20000 size=300", "", "warning", "6 MB: the size of one review"},
           Case{"list<text>", "fanout=2000 size=600kB", "", "-", "600 kB: the size of all reviews"},
           Case{"list<text>", "fanout=50", "c = c + ?", "warning", "31,536 in a year"},
           Case{"list<text>", "fanout=50 max=200", "c = c + ?", "-", "something keeps it short"},
           Case{"set<text>", "fanout=5", "c = c + ?", "-", "the same tags come again"},
           Case{"set<uuid>", "fanout=5", "c = c + ?", "warning", "followers are new ones"},
           Case{"map<timestamp, int>", "fanout=5", "c[?] = ?", "warning", "each time is a new one"},
           Case{"map<text, int>", "fanout=5", "c[?] = ?", "-", "names come again"},
           Case{"list<text>", "fanout=50", "c = ?", "-", "replaced as a whole"},
       }) {
    const std::string change =
        *one.change == 0 ? ""
                         : fmt::format("-- @write w rate=50/s\nUPDATE t SET {} WHERE id = ?;\n", one.change);
    const Review review = review_of(fmt::format(R"(
CREATE TABLE t (id uuid PRIMARY KEY, name text, c {});
-- @table t rows=50k growth=0/s
-- @column t.c {}
{})",
                                                one.type, one.options, change));
    const Finding* finding = find(review, Verdict::large_cell);
    EXPECT_STREQ(finding != nullptr ? to_string(finding->severity) : "-", one.found)
        << one.type << ": " << one.why;
  }
}

TEST(Kinds, ElementsThatAreRemovedDoNotGrow) {
  const auto found = [](const char* more) {
    return ids(review_of(fmt::format(R"(
CREATE TABLE t (id uuid PRIMARY KEY, c list<text>);
-- @table t rows=50k growth=0/s
-- @write add rate=50/s
UPDATE t SET c = c + ? WHERE id = ?;
{})",
                                     more)));
  };
  EXPECT_EQ(found(""), "LARGE_CELL t\n");
  EXPECT_EQ(found("-- @write remove rate=50/s\nUPDATE t SET c = c - ? WHERE id = ?;\n"), "");
  EXPECT_EQ(found("-- @write cut rate=50/s\nDELETE c[0] FROM t WHERE id = ?;\n"), "");
}

TEST(Kinds, SearchesByFirstLettersGetATable) {
  for (const char* where : {"name >= ? AND name < ?", "name LIKE 'an%'", "name > ?"}) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE people (name text PRIMARY KEY, phone text);
-- @table people rows=7M
-- @query starting rate=30/s
SELECT * FROM people WHERE {} LIMIT 20;
)",
                                                where));
    const Finding* finding = find(review, Verdict::unsupported_query);
    ASSERT_NE(finding, nullptr) << where;
    EXPECT_THAT(finding->cql, HasSubstr("-- prefix: the first letters of name")) << where;
    EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY (prefix, name)")) << where;
  }
  const Review numbers = review_of(
      "CREATE TABLE t (k int PRIMARY KEY, v text);\n-- @table t rows=7M\nSELECT * FROM t WHERE k > ?;\n");
  EXPECT_EQ(numbers.findings.at(0).cql, "") << "numbers have no letters";
}

TEST(Kinds, FewValuesOfTheClusteringKeyBoundAPartition) {
  const auto calls = [](const char* values) {
    return review_of(fmt::format(R"(
CREATE TABLE calls (client uuid, minute timestamp, endpoint text, n counter, PRIMARY KEY ((client, minute), endpoint));
{}
-- @write count rate=5000/s
UPDATE calls SET n = n + 1 WHERE client = ? AND minute = ? AND endpoint = ?;
)",
                                 values));
  };
  const Review known = calls("-- @column calls.endpoint distinct=12");
  ASSERT_TRUE(known.tables.at(0).horizon.has_value());
  EXPECT_NEAR(known.tables.at(0).horizon->max, 12 * known.tables.at(0).row_bytes, 1);
  EXPECT_FALSE(calls("").tables.at(0).horizon.has_value());
  EXPECT_FALSE(calls("-- @column calls.endpoint distinct=1e9").tables.at(0).horizon.has_value());
}

TEST(Kinds, ReadsOfAllRowsMayNeedTheStoredOrder) {
  const auto severity = [](const char* type, const char* other) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE moves (game bigint, n {}, move text, PRIMARY KEY (game, n));
-- @query last
SELECT * FROM moves WHERE game = ? ORDER BY n DESC LIMIT 1;
{})",
                                                type, other));
    return std::string(to_string(find(review, Verdict::order_mismatch)->severity));
  };
  constexpr const char* replay = "-- @query replay\nSELECT * FROM moves WHERE game = ?;\n";
  EXPECT_EQ(severity("int", ""), "warning");
  EXPECT_EQ(severity("int", replay), "note") << "moves come in their order";
  EXPECT_EQ(severity("timeuuid", replay), "warning") << "times may come newest first";
}

TEST(Kinds, ANewPeriodMayHaveTheNameOfTheOldOne) {
  const Review review = review_of(R"(
CREATE TABLE messages (channel bigint, bucket int, id timeuuid, body text, PRIMARY KEY ((channel, bucket), id))
  WITH CLUSTERING ORDER BY (id DESC);
-- @table messages growth=100/s row=300
-- @column messages.channel distinct=20
-- @column messages.bucket growth=1/10d
-- @query page rate=10/s
SELECT * FROM messages WHERE channel = ? AND bucket = ? LIMIT 50;
)");
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->cql, HasSubstr("PRIMARY KEY ((channel, bucket"));
  EXPECT_THAT(finding->fix, testing::StartsWith("Split by time")) << "no caution: its partitions end";
}

TEST(Kinds, MissingPartitionsAreNamed) {
  const Review review = review_of(R"(
CREATE TABLE reservations (hotel int, night date, room int, guest uuid, PRIMARY KEY ((hotel, night), room));
-- @table reservations rows=80M growth=0/s
-- @column reservations.hotel distinct=4000
)");
  const Finding* finding = find(review, Verdict::unknown_size);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->fix, "Declare what is missing: -- @table reservations partitions=N.");
}

TEST(Kinds, TheCostOfAJoinCountsPartitions) {
  const Review review = review_of(R"(
CREATE TABLE follows (person bigint, followee bigint, PRIMARY KEY (person, followee));
CREATE TABLE posts (author bigint, id timeuuid, body text, PRIMARY KEY (author, id));
-- @table follows partitions=2M p50=200 p99=2000
-- @table posts rows=400M partitions=2M growth=0/s
-- @group timeline
-- @query followees
SELECT followee FROM follows WHERE person = ?;
-- @query newest
SELECT * FROM posts WHERE author IN ? LIMIT 50;
)");
  for (const Finding& finding : review.findings)
    if (finding.query == "timeline") {
      EXPECT_THAT(finding.cost, HasSubstr("a read costs 1/35 as much as now"));
    }
}

TEST(Kinds, ManyRowsReadForOneReturnedAreWastedInSmallTablesToo) {
  const auto found = [](double rows, double values, const char* rate) {
    return ids(review_of(fmt::format(R"(
CREATE TABLE users (id int PRIMARY KEY, mail text);
-- @table users rows={} growth=0/s
-- @column users.mail distinct={}
-- @query by_mail{}
SELECT * FROM users WHERE mail = ? ALLOW FILTERING;
)",
                                     rows, values, rate)));
  };
  EXPECT_EQ(found(900, 900, " rate=20/s"), "FULL_SCAN users/by_mail\n");
  EXPECT_EQ(found(150, 150, " rate=20/s"), "FULL_SCAN users/by_mail\n");
  EXPECT_EQ(found(900, 900, ""), "FULL_SCAN users/by_mail\n");
  EXPECT_EQ(found(900, 30, " rate=20/s"), "") << "30 read for one returned";
  EXPECT_EQ(found(900, 900, " rate=3/d"), "") << "rarely";
  EXPECT_EQ(found(80, 80, " rate=20/s"), "");
}

}  // namespace
}  // namespace sibyl::advisor
