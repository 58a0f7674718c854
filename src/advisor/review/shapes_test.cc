// Reviews typical models: each one with a fault next to a similar one without the fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;
using testing::Not;

Finding finding_of(const Review& review, const std::string& id) {
  for (const Finding& finding : review.findings)
    if (finding.id() == id) return finding;
  ADD_FAILURE() << id << " not in\n" << ids(review);
  return {};
}

std::string evidence_of(const Finding& finding) {
  std::string out;
  for (const Evidence& one : finding.evidence)
    out += fmt::format("{} ({})\n", one.text, to_string(one.origin));
  return out;
}

// --- Reads

Review votes_read_by(const std::string& query, const char* rows = "500M") {
  return review_of(fmt::format(R"(
CREATE TABLE votes (poll uuid, voter uuid, choice int, PRIMARY KEY (poll, voter));
-- @table votes rows={} partitions=1000 row=40
-- @column votes.choice distinct=5
{}
)",
                               rows, query));
}

TEST(Shapes, AnAggregateOfManyRowsIsKeptInATable) {
  const Review review =
      votes_read_by("-- @query tally rate=50/s\nSELECT count(*) FROM votes WHERE poll = ?;");
  const Finding finding = finding_of(review, "AGGREGATE_SCAN votes/tally");
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_THAT(evidence_of(finding), HasSubstr("500k rows read for 1 returned"));
  EXPECT_THAT(finding.cql, HasSubstr("CREATE TABLE votes_counted (\n  poll uuid,\n  n counter,\n"));
  const Review sum = votes_read_by("-- @query mean\nSELECT avg(choice) FROM votes WHERE poll = ?;");
  EXPECT_THAT(finding_of(sum, "AGGREGATE_SCAN votes/mean").fix, HasSubstr("Compute avg(choice) when"));
}

TEST(Shapes, AnAggregateOfFewRowsIsNoFault) {
  const std::string tally = "-- @query tally rate=50/s\nSELECT count(*) FROM votes WHERE poll = ?;";
  EXPECT_EQ(ids(votes_read_by(tally, "900k")), "") << "900 rows each";
  const Review some = votes_read_by(tally, "30M");
  EXPECT_EQ(finding_of(some, "AGGREGATE_SCAN votes/tally").severity, Severity::note) << "30,000 rows each";
  const Review nightly =
      votes_read_by("-- @query tally rate=1/d\nSELECT count(*) FROM votes WHERE poll = ?;");
  EXPECT_EQ(finding_of(nightly, "AGGREGATE_SCAN votes/tally").severity, Severity::note);
  EXPECT_EQ(ids(votes_read_by("SELECT choice FROM votes WHERE poll = ? LIMIT 10;")), "");
  const Review filtered = votes_read_by(
      "-- @query yes\nSELECT count(*) FROM votes WHERE poll = ? AND choice = 1 ALLOW FILTERING;");
  EXPECT_EQ(ids(filtered), "ALLOW_FILTERING votes/yes\n") << "one fault, one finding";
}

TEST(Shapes, ARangeOfPeriodsTakesARequestForEach) {
  const auto range = [](const char* where) {
    return review_of(fmt::format(R"(
CREATE TABLE usage (device uuid, day date, at timestamp, kwh double, PRIMARY KEY ((device, day), at));
-- @table usage growth=400/s row=40 arrival=regular retention=730d
-- @column usage.device distinct=24k
-- @query range rate=4/s
SELECT at, kwh FROM usage WHERE {};
)",
                                 where));
  };
  const Review days = range("device = ? AND day >= ? AND day <= ?");
  const Finding finding = finding_of(days, "UNSUPPORTED_QUERY usage/range");
  EXPECT_EQ(finding.cql, "SELECT at, kwh FROM usage WHERE day = ? AND device = ?;\n");
  EXPECT_THAT(finding.fix, HasSubstr("once for each day"));
  const Review within = range("device IN (?, ?) AND day > ? AND at < ?");
  EXPECT_EQ(finding_of(within, "UNSUPPORTED_QUERY usage/range").cql,
            "SELECT at, kwh FROM usage WHERE day = ? AND device IN ? AND at < ?;\n");
  // Without the device, the statement does not give a partition key.
  const Review all = range("day >= ?");
  EXPECT_THAT(finding_of(all, "UNSUPPORTED_QUERY usage/range").cql, HasSubstr("CREATE TABLE"));
}

TEST(Shapes, AListOfKeysIsKeptApart) {
  const Review review = review_of(R"(
CREATE TABLE readings (sensor int, day date, at timestamp, v double, PRIMARY KEY ((sensor, day), at));
-- @table readings rows=50M row=40 arrival=regular
-- @column readings.sensor distinct=5000
-- @query keys rate=1/m
SELECT DISTINCT sensor, day FROM readings;
)");
  const Finding finding = finding_of(review, "FULL_SCAN readings/keys");
  EXPECT_THAT(finding.fix, HasSubstr("Keep the keys in a table of their own"));
  EXPECT_EQ(finding.cql,
            "SELECT DISTINCT sensor, day FROM readings WHERE token(sensor, day) > ? AND token(sensor, day) "
            "<= ?;\n");
}

TEST(Shapes, AnIndexThatNothingElseUsesIsDropped) {
  const std::string model = R"(
CREATE TABLE users (id uuid PRIMARY KEY, email text, name text);
CREATE INDEX users_email ON users (email);
-- @table users rows=3M
-- @column users.email distinct=3M
-- @query by_email rate=70/s
SELECT * FROM users WHERE email = ?;
)";
  const std::string id = "INDEX_CARDINALITY users/by_email";
  EXPECT_THAT(finding_of(review_of(model), id).fix, HasSubstr("drop the index users_email"));
  const Review two = review_of(model + "-- @query other\nSELECT name FROM users WHERE email = ? LIMIT 1;\n");
  EXPECT_THAT(finding_of(two, id).fix, Not(HasSubstr("drop the index")));
}

// --- Groups

std::string folder(const char* reads) {
  return fmt::format(R"(
CREATE TABLE folders (owner uuid, folder text, at timeuuid, mail uuid, PRIMARY KEY ((owner, folder), at));
CREATE TABLE mails (mail uuid PRIMARY KEY, subject text, sender text, body text, header text);
-- @table folders rows=90M partitions=600k row=60
-- @table mails rows=90M
-- @column mails.body size=20kB
-- @group open
-- @query ids rate=120/s
SELECT mail FROM folders WHERE owner = ? AND folder = ? LIMIT 40;
{}
)",
                     reads);
}

TEST(Shapes, AJoinedTableHasTheColumnsThatAreRead) {
  const Review review =
      review_of(folder("-- @query heads times=40\nSELECT subject, sender FROM mails WHERE mail = ?;"));
  const Finding finding = finding_of(review, "MULTI_PARTITION folders/open");
  EXPECT_THAT(finding.cql, HasSubstr("subject text"));
  EXPECT_THAT(finding.cql, Not(HasSubstr("body")));
  EXPECT_THAT(finding.fix, HasSubstr("The group does not read body and header in mails: it stays there."));
  EXPECT_THAT(finding.cost, HasSubstr(" GB on each replica")) << "90M bodies would be 1.8 TB";
  const Review whole = review_of(folder("-- @query mail times=40\nSELECT * FROM mails WHERE mail = ?;"));
  EXPECT_THAT(finding_of(whole, "MULTI_PARTITION folders/open").cql, HasSubstr("body text"));
}

TEST(Shapes, SeveralReadsOfAJoinedTableCount) {
  const Review review =
      review_of(folder("-- @query heads times=40\nSELECT subject FROM mails WHERE mail = ?;\n"
                       "-- @query senders times=40\nSELECT sender FROM mails WHERE mail = ?;"));
  const Finding finding = finding_of(review, "MULTI_PARTITION folders/open");
  EXPECT_THAT(finding.cql, HasSubstr("subject text"));
  EXPECT_THAT(finding.cql, HasSubstr("sender text"));
  EXPECT_THAT(finding.cql, Not(HasSubstr("body")));
}

// --- Tombstones

Review board(const char* partitions, const char* more = "") {
  return review_of(fmt::format(R"(
CREATE TABLE board (game int, score bigint, player uuid, PRIMARY KEY (game, score, player))
  WITH CLUSTERING ORDER BY (score DESC, player ASC){};
-- @table board rows=2M partitions={} row=40
-- @query top rate=400/s
SELECT * FROM board WHERE game = ? LIMIT 10;
-- @write old rate=200/s
DELETE FROM board WHERE game = ? AND score = ? AND player = ?;
-- @write new rate=200/s
INSERT INTO board (game, score, player) VALUES (?, ?, ?);
)",
                               more, partitions));
}

TEST(Shapes, ARankingMeetsTheTombstonesOfOldPlaces) {
  const Finding finding = finding_of(board("100"), "TOMBSTONE_SCAN board/top");
  EXPECT_EQ(finding.severity, Severity::warning);
  // 200/s for ten days are 172.8M tombstones for 2M rows; 86 for each row.
  EXPECT_THAT(evidence_of(finding), HasSubstr("846 tombstones for 10 rows"));
  EXPECT_THAT(finding.cql, HasSubstr("PRIMARY KEY (game, place)"));
  EXPECT_EQ(ids(board("100", " AND gc_grace_seconds = 3600")), "") << "less than one for each row";
}

// --- Keys

TEST(Shapes, APeriodIsLongerThanTheTimeBetweenRows) {
  const auto probes = [](const char* growth) {
    return review_of(fmt::format(R"(
CREATE TABLE probes (probe int, minute timestamp, at timestamp, value double, PRIMARY KEY ((probe, minute), at));
-- @table probes growth={} row=40 retention=90d arrival=regular
-- @column probes.probe distinct=2400
-- @query one rate=10/s
SELECT * FROM probes WHERE probe = ? AND minute = ?;
)",
                                 growth));
  };
  const Review slow = probes("20/s");
  const Finding finding = finding_of(slow, "TOO_UNIQUE probes");
  EXPECT_EQ(finding.severity, Severity::note);
  EXPECT_THAT(finding.fix, HasSubstr("Use periods of 1 day"));
  EXPECT_THAT(finding.cql, HasSubstr("PRIMARY KEY ((probe, bucket), at)"));
  EXPECT_EQ(ids(probes("400/s")), "") << "ten rows in a minute";
}

TEST(Shapes, PartitionsHaveAtLeastOneRow) {
  const TableReview table = review_of(R"(
CREATE TABLE drivers (cell text, driver uuid, at timestamp, PRIMARY KEY (cell, driver));
-- @table drivers rows=600k row=60
-- @column drivers.cell distinct=50k skew=zipf(1.2)
)")
                                .tables.at(0);
  EXPECT_EQ(table.now->p50, 60) << "half of the cells have fewer than one row on average";
}

TEST(Shapes, AReplacedPeriodLeavesTheKey) {
  const Review review = review_of(R"(
CREATE TABLE events (hour timestamp, at timeuuid, body text, PRIMARY KEY (hour, at));
-- @table events growth=600/s row=200 retention=365d
-- @query of_hour rate=1/m
SELECT * FROM events WHERE hour = ? AND at > ? AND at < ?;
)");
  const Finding finding = finding_of(review, "PARTITION_GROWTH events");
  EXPECT_THAT(finding.cql, HasSubstr("PRIMARY KEY (bucket, at)"));
  EXPECT_THAT(finding.cql, Not(HasSubstr("hour timestamp")));
  EXPECT_THAT(finding.fix, HasSubstr("instead of one for every hour of hour"));
}

TEST(Shapes, AMixedTableIsTheOnlyFault) {
  const Review review = review_of(R"(
CREATE TABLE threads (forum int, thread timeuuid, title text, replies counter, PRIMARY KEY (forum, thread));
-- @table threads rows=5M partitions=3000
-- @column threads.title size=60
-- @query list rate=200/s
SELECT * FROM threads WHERE forum = ? LIMIT 20;
-- @write reply rate=20/s
UPDATE threads SET replies = replies + 1 WHERE forum = ? AND thread = ?;
)");
  EXPECT_EQ(ids(review), "COUNTER_MIX threads\n");
  const auto unknown = review_workloads({workload_of("-- @table threads rows=5M\n")}, {});
  EXPECT_FALSE(unknown.has_value()) << "statistics of a table that nothing defines";
}

TEST(Shapes, ElementsOfAListKeepTheirOrder) {
  const auto large = [](const char* type) {
    return review_of(fmt::format(R"(
CREATE TABLE visits (id uuid PRIMARY KEY, events {});
-- @table visits rows=5M
-- @column visits.events fanout=300 max=200k
)",
                                 type));
  };
  EXPECT_THAT(finding_of(large("list<text>"), "LARGE_CELL visits").cql,
              HasSubstr("  element text,\n  PRIMARY KEY (id, added)\n"));
  EXPECT_THAT(finding_of(large("set<text>"), "LARGE_CELL visits").cql,
              HasSubstr("  element text,\n  PRIMARY KEY (id, element)\n"));
  EXPECT_THAT(finding_of(large("map<int, text>"), "LARGE_CELL visits").cql,
              HasSubstr("  element int,\n  value text,\n  PRIMARY KEY (id, element)\n"));
}

TEST(Shapes, ACollisionInYearsIsANote) {
  const auto prices = [](const char* growth) {
    return review_of(fmt::format(R"(
CREATE TABLE prices (product uuid, at timestamp, cents int, PRIMARY KEY (product, at));
-- @table prices growth={} row=40
-- @column prices.product distinct=2M
)",
                                 growth));
  };
  EXPECT_EQ(finding_of(prices("5/s"), "KEY_COLLISION prices").severity, Severity::note);
  EXPECT_EQ(finding_of(prices("500/s"), "KEY_COLLISION prices").severity, Severity::warning);
}

// --- Evidence

TEST(Shapes, AnEnormousPartitionIsAnErrorBeforeItExists) {
  const auto tags = [](const char* growth) {
    return review_of(fmt::format(R"(
CREATE TABLE posts_by_tag (tag text, at timeuuid, post uuid, PRIMARY KEY (tag, at));
-- @table posts_by_tag growth={} row=90
-- @column posts_by_tag.tag distinct=2M skew=zipf(1.0)
)",
                                 growth));
  };
  EXPECT_EQ(finding_of(tags("900/s"), "PARTITION_GROWTH posts_by_tag").severity, Severity::error) << "169 GB";
  EXPECT_EQ(finding_of(tags("2/s"), "PARTITION_GROWTH posts_by_tag").severity, Severity::warning) << "377 MB";
}

TEST(Shapes, ImpliedNumbersAreEstimates) {
  const Review review = review_of(R"(
CREATE TABLE edges (src bigint, dst bigint, since date, PRIMARY KEY (src, dst));
-- @table edges partitions=90M p50=10 p99=2000 max=50M row=40
-- @query list rate=100/s
SELECT dst FROM edges WHERE src = ? LIMIT 100;
-- @query linked rate=2000/s
SELECT since FROM edges WHERE src = ? AND dst = ?;
)");
  const Finding finding = finding_of(review, "PARTITION_GROWTH edges");
  EXPECT_THAT(evidence_of(finding), HasSubstr("rows of 40 B, by the quantiles of partitions (estimated)"));
  EXPECT_THAT(evidence_of(finding), HasSubstr("90M partitions (declared)"));
  const size_t rows = finding.cql.find("-- @table edges_to_read rows=");
  ASSERT_NE(rows, std::string::npos) << finding.cql;
  EXPECT_LE(std::stod(finding.cql.substr(rows + 29)), *review.tables[0].rows)
      << "more rows than the table has";
}

TEST(Shapes, WritesThatAreNotDeclaredAreNotFew) {
  const auto documents = [](const char* write) {
    return review_of(fmt::format(R"(
CREATE TABLE documents (tenant uuid, id uuid, body text, PRIMARY KEY (tenant, id));
-- @table documents rows=30M row=2000 growth=0/s
-- @column documents.tenant distinct=1000 skew=zipf(1.1)
-- @query list rate=500/s
SELECT * FROM documents WHERE tenant = ? LIMIT 50;
{}
)",
                                 write));
  };
  const std::string id = "PARTITION_GROWTH documents";
  EXPECT_THAT(finding_of(documents(""), id).fix,
              HasSubstr("No writes are declared; if reads outnumber them"));
  const Review written =
      documents("-- @write put rate=1/s\nINSERT INTO documents (tenant, id, body) VALUES (?, ?, ?);");
  EXPECT_THAT(finding_of(written, id).fix, HasSubstr("Reads outnumber writes, so"));
}

TEST(Shapes, PartitionsOfOneRowAreCountedAsSuch) {
  const Review review = review_of(R"(
CREATE TABLE sightings (lat double, lon double, at timestamp, PRIMARY KEY ((lat, lon), at));
-- @table sightings rows=50M partitions=49M row=60
)");
  EXPECT_THAT(evidence_of(finding_of(review, "TOO_UNIQUE sightings")), HasSubstr("50M rows, 49M partitions"));
}

}  // namespace
}  // namespace sibyl::advisor
