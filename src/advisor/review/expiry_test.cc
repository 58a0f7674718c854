// Tombstones that reads meet although the table is no queue: of expired rows, of rows with one value, and of keys
// that come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

std::string tombstones(const Review& review) {
  const Finding* finding = find(review, Verdict::tombstone_scan);
  return finding != nullptr ? std::string(to_string(finding->severity)) + " " + finding->query : "-";
}

TEST(Expiry, ReadsMeetExpiredRows) {
  struct Case {
    const char *order, *limit;
    double lifetime, rate;
    const char *found, *why;
  };
  constexpr double hour = 3600, day = 86'400;
  for (const Case& one : {
           Case{"ASC", " LIMIT 20", day, 60, "warning read", "the oldest rows have expired: 25,920"},
           Case{"DESC", " LIMIT 20", day, 60, "-", "2,592 newer ones are alive"},
           Case{"DESC", " LIMIT 20", hour / 10, 60, "warning read", "10.8 alive, 25,920 expired"},
           Case{"DESC", "", hour, 60, "warning read", "108 alive, 25,920 expired"},
           Case{"DESC", "", 90 * day, 60, "-", "nine rows alive for one expired"},
           Case{"ASC", " LIMIT 20", day, 1, "-", "432 expired"},
           Case{"ASC", " LIMIT 20", day, 600, "error read", "259,200 expired"},
       }) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE alerts (host int, at timeuuid, line text, PRIMARY KEY (host, at))
  WITH CLUSTERING ORDER BY (at {}) AND default_time_to_live = {:.0f};
-- @table alerts growth={}/s
-- @column alerts.host distinct=2000
-- @query read rate=4/s
SELECT * FROM alerts WHERE host = ?{};
)",
                                                one.order, one.lifetime, one.rate, one.limit));
    EXPECT_EQ(tombstones(review), one.found) << one.why;
  }
}

TEST(Expiry, AShorterGraceOrAPeriodResolvesIt) {
  const auto review = [](double rate, const char* more) {
    return review_of(fmt::format(R"(
CREATE TABLE alerts (host int, at timeuuid, line text, PRIMARY KEY (host, at)) WITH default_time_to_live = 86400;
-- @table alerts growth={}/s
-- @column alerts.host distinct=2000
-- @query oldest rate=4/s
SELECT * FROM alerts WHERE host = ? LIMIT 20;
{})",
                                 rate, more));
  };
  const Review few = review(60, "");
  EXPECT_EQ(find(few, Verdict::tombstone_scan)->cql, "ALTER TABLE alerts WITH gc_grace_seconds = 32400;\n");
  const Review many = review(600, "");
  EXPECT_THAT(find(many, Verdict::tombstone_scan)->cql, HasSubstr("PRIMARY KEY ((host, bucket), at)"));
  const Review deleted = review(60, "DELETE FROM alerts WHERE host = ? AND at = ?;\n");
  EXPECT_THAT(find(deleted, Verdict::tombstone_scan)->cql, HasSubstr("PRIMARY KEY ((host, bucket), at)"))
      << "deleted rows could come back";
}

TEST(Churn, ReadsOfTheRowsWithOneValueMeetTheirTombstones) {
  const auto found = [](const char* values, double rate) {
    return tombstones(review_of(fmt::format(R"(
CREATE TABLE parcels (depot int, status text, parcel bigint, PRIMARY KEY (depot, status, parcel));
-- @table parcels rows=2M partitions=400 growth=0/s
{}
-- @query in_status rate=20/s
SELECT * FROM parcels WHERE depot = ? AND status = ?;
-- @write enter rate={}/s
INSERT INTO parcels (depot, status, parcel) VALUES (?, ?, ?);
-- @write leave rate={}/s
DELETE FROM parcels WHERE depot = ? AND status = ? AND parcel = ?;
)",
                                            values, rate, rate)));
  };
  EXPECT_EQ(found("-- @column parcels.status distinct=6", 140), "warning in_status") << "50,400 of 302,400";
  EXPECT_EQ(found("-- @column parcels.status distinct=6", 2), "-") << "720";
  EXPECT_EQ(found("", 140), "-") << "the number of values is not known";
}

TEST(Churn, KeysThatComeBackAreNoQueue) {
  const auto review = [](double spots) {
    return review_of(fmt::format(R"(
CREATE TABLE free_spots (garage int, spot int, since timestamp, PRIMARY KEY (garage, spot));
-- @table free_spots rows=40k partitions=200 growth=0/s
-- @column free_spots.spot distinct={}
-- @query any rate=50/s
SELECT spot FROM free_spots WHERE garage = ? LIMIT 1;
-- @write leave rate=40/s
INSERT INTO free_spots (garage, spot, since) VALUES (?, ?, ?);
-- @write enter rate=40/s
DELETE FROM free_spots WHERE garage = ? AND spot = ?;
)",
                                 spots));
  };
  EXPECT_EQ(tombstones(review(500)), "-") << "at most 500 tombstones";
  const Review many = review(20'000);
  EXPECT_EQ(tombstones(many), "warning any");
  EXPECT_THAT(find(many, Verdict::tombstone_scan)->fix,
              testing::StartsWith("Mark rows instead of deleting them"));
}

}  // namespace
}  // namespace sibyl::advisor
