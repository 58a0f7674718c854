#include <gtest/gtest.h>

#include "execute/modify_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;
using Lines = std::vector<std::string>;

TEST(Modify, BatchesAreOneWrite) {
  storage::memory::Options options;
  uint64_t commits = 0;
  options.fail_commit = [&](uint64_t number) {
    commits = number;
    return false;
  };
  WriteFixture database(std::move(options));
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE o (k int PRIMARY KEY, v int)");
  const uint64_t before = commits;
  database.must(
      "BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1) INSERT INTO o (k, v) VALUES (1, 1); DELETE FROM t "
      "WHERE k = 2 APPLY BATCH");
  EXPECT_EQ(commits, before + 1);
  EXPECT_EQ(database.records("t").size(), 2u);
  EXPECT_EQ(database.records("o").size(), 1u);
  database.must("TRUNCATE t");
  database.must(
      "BEGIN BATCH USING TIMESTAMP 9 UPDATE t SET v = 1 WHERE k = 1; UPDATE t SET v = 2 WHERE k = 1; APPLY "
      "BATCH");
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 9 value 00000002"})
      << "equal timestamps: the larger value";
  database.must("BEGIN BATCH APPLY BATCH");
  EXPECT_EQ(database.error_of(
                "BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1; UPDATE t SET v = 'x' WHERE k = 2; APPLY BATCH"),
            "Invalid STRING constant (x) for \"v\" of type int");
}

TEST(Modify, ProtocolBatches) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  auto insert = database.prepare("INSERT INTO t (k, v) VALUES (?, ?)");
  auto count = database.prepare("UPDATE n SET n += ? WHERE k = 1");
  ASSERT_TRUE(insert && count);
  const Bytes one = types::encode_int32(1), two = types::encode_int32(2), wide = types::encode_int64(3);
  const std::vector<ValueView> first = {ValueView::of(one), ValueView::of(one)};
  const std::vector<ValueView> second = {ValueView::of(two), ValueView::of(two)};
  const std::vector<ValueView> delta = {ValueView::of(wide)};
  const auto run = [&](cql::Batch::Kind kind, std::vector<BatchItem> items) {
    std::string answer = "never";
    Environment environment = database.environment();
    batch(kind, items, {}, environment, nullptr,
          [&](base::Result<ResultSet> result) { answer = result ? "" : result.error().message(); });
    return answer;
  };
  EXPECT_EQ(run(cql::Batch::Kind::logged, {{*insert, first}, {*insert, second}}), "");
  EXPECT_EQ(database.records("t").size(), 2u);
  EXPECT_EQ(run(cql::Batch::Kind::counter, {{*count, delta}, {*count, delta}}), "");
  EXPECT_EQ(database.counters("n")["n"], 6);
  EXPECT_EQ(run(cql::Batch::Kind::logged, {{*count, delta}}),
            "Cannot include a counter statement in a logged batch");
  EXPECT_EQ(run(cql::Batch::Kind::counter, {{*insert, first}}),
            "Cannot include non-counter statement in a counter batch");
  auto drop = database.prepare("DROP TABLE t");
  ASSERT_TRUE(drop);
  EXPECT_EQ(run(cql::Batch::Kind::logged, {{*drop, {}}}),
            "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.");
}

}  // namespace
}  // namespace sibyl::execute
