// Partitions with too large a share of the rows or requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

// The severity of HOT_PARTITION; "-": there is no such finding.
std::string hotness(const std::string& model) {
  const Review review = review_of(model);
  const Finding* finding = find(review, Verdict::hot_partition);
  return finding != nullptr ? to_string(finding->severity) : "-";
}

TEST(HotPartition, ThreeEighthsOfTheRequestsAreTooManyUnlessTheyAreFew) {
  struct Case {
    const char* skew;
    double rate;
    const char* severity;
    const char* why;
  };
  for (const Case& one :
       {Case{"zipf(1.6)", 900, "warning", "44%, 393/s"}, Case{"zipf(1.6)", 150, "-", "44%, but 65/s"},
        Case{"zipf(1.3)", 900, "-", "27%, 240/s"}, Case{"zipf(1.5)", 900, "warning", "38.5%, 346/s"},
        Case{"zipf(1.6)", 9000, "warning", "3,930/s"}}) {
    EXPECT_EQ(hotness(fmt::format(R"(
CREATE TABLE hits (page text PRIMARY KEY, n counter);
-- @table hits rows=20k growth=0/s
-- @write hit rate={}/s skew={}
UPDATE hits SET n = n + 1 WHERE page = ?;
)",
                                  one.rate, one.skew)),
              one.severity)
        << one.why;
  }
}

TEST(HotPartition, ThreeEighthsOfTheRowsAreTooManyUnlessTheyAreFew) {
  struct Case {
    double rows, largest;
    const char* severity;
  };
  for (const Case& one : {Case{10e6, 4e6, "warning"}, Case{10e6, 2.5e6, "-"}, Case{200e3, 80e3, "-"}}) {
    EXPECT_EQ(hotness(fmt::format(R"(
CREATE TABLE t (k int, c uuid, PRIMARY KEY (k, c));
-- @table t rows={} partitions=1000 max={} row=100
-- @target partition=1GB
)",
                                  one.rows, one.largest)),
              one.severity)
        << one.rows << " rows, " << one.largest << " in the largest partition";
  }
}

TEST(HotPartition, APeriodAsTheWholeKeyTakesAllRequests) {
  const auto log = [](double rate, const char* key) {
    return hotness(fmt::format(R"(
CREATE TABLE log (day date, host int, at timeuuid, line text, PRIMARY KEY ({}, at));
-- @table log row=100
-- @column log.host distinct=200
-- @target partition=100GB
-- @write add rate={}/s
INSERT INTO log (day, host, at, line) VALUES (?, ?, ?, ?);
)",
                               key, rate));
  };
  EXPECT_EQ(log(500, "(day), host"), "warning");
  EXPECT_EQ(log(20, "(day), host"), "-") << "a node serves 20 writes per second easily";
  EXPECT_EQ(log(500, "(day, host)"), "-");
  EXPECT_EQ(hotness(R"(
CREATE TABLE top (day date, place int, product uuid, PRIMARY KEY (day, place));
-- @table top rows=100k partitions=1000 growth=100/d
-- @query top rate=800/s
SELECT * FROM top WHERE day = ? LIMIT 10;
)"),
            "-")
      << "only reads";
}

TEST(HotPartition, AMomentAsTheKeyIsNoPeriod) {
  EXPECT_EQ(hotness(R"(
CREATE TABLE receipts (message timeuuid, person bigint, PRIMARY KEY (message, person));
-- @table receipts rows=500M partitions=100M growth=0/s
-- @query of_page rate=900/s
SELECT * FROM receipts WHERE message = ?;
)"),
            "-");
}

TEST(HotPartition, MomentsDoNotStayBusy) {
  const auto log = [](const char* column) {
    return hotness(fmt::format(R"(
CREATE TABLE log ({0} timestamp, id uuid, line text, PRIMARY KEY ({0}, id));
-- @table log growth=2000/s row=100
-- @target partition=100GB
)",
                               column));
  };
  EXPECT_EQ(log("at"), "-") << "two rows per partition";
  EXPECT_EQ(log("hour"), "warning");
  EXPECT_EQ(log("bucket"), "warning");
}

TEST(HotPartition, ReadsAndWritesCountTogether) {
  const auto review = [](double reads, double writes) {
    return review_of(fmt::format(R"(
CREATE TABLE seen (day date, message uuid, PRIMARY KEY (day, message));
-- @table seen growth={1}/s
-- @target partition=100GB
-- @query known rate={0}/s
SELECT message FROM seen WHERE day = ? AND message = ?;
-- @write remember rate={1}/s
INSERT INTO seen (day, message) VALUES (?, ?);
)",
                                 reads, writes));
  };
  const Review both_review = review(600, 600);
  const Finding* both = find(both_review, Verdict::hot_partition);
  ASSERT_NE(both, nullptr);
  EXPECT_THAT(both->message,
              HasSubstr("gets 600/s reads and 600/s writes; the target for one partition is 1,000/s"));
  EXPECT_THAT(both->cql, HasSubstr("PRIMARY KEY ((day, message))"));
  const Review few_review = review(990, 20);
  EXPECT_EQ(find(few_review, Verdict::hot_partition), nullptr) << "so few writes make no difference";
  const Review writes_review = review(600, 2000);
  EXPECT_THAT(find(writes_review, Verdict::hot_partition)->message, HasSubstr("gets 2,000/s writes"));
}

}  // namespace
}  // namespace sibyl::advisor
