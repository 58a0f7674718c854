#include <gtest/gtest.h>

#include "execute/write/modify_fixture_test.h"
#include "plan/statements/modify.h"
#include "types/value.h"

namespace sibyl::plan {

class QueryShape {};

}  // namespace sibyl::plan

namespace sibyl::execute {
namespace {

using types::ValueView;
using Lines = std::vector<std::string>;

constexpr int64_t now = WriteFixture::start_seconds;

TEST(Modify, InsertLeavesAMarkerAndUpdateDoesNot) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w text)");
  database.must("INSERT INTO t (k, v) VALUES (1, 7) USING TIMESTAMP 10");
  EXPECT_EQ(database.lines("t"), Lines{"row: marker at 10; cell 2 live at 10 value 00000007"});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 11 SET v = 7, w = '' WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 11 value 00000007; cell 3 live at 11 value -"});
}

TEST(Modify, NullUnsetAndEmptyDiffer) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w text)");
  const Bytes key = types::encode_int32(1);
  const std::string insert = "INSERT INTO t (k, v, w) VALUES (?, ?, ?) USING TIMESTAMP 5";
  database.must(insert, {ValueView::of(key), ValueView::null(), ValueView::unset()});
  EXPECT_EQ(database.lines("t"),
            Lines{"row: marker at 5; cell 2 tombstone at 5 local " + std::to_string(now)});
  database.must("TRUNCATE t");
  database.must("UPDATE t SET v = ?, w = ? WHERE k = 1", {ValueView::unset(), ValueView::unset()});
  EXPECT_TRUE(database.records("t").empty());
  EXPECT_EQ(database.error_of(insert, {ValueView::null(), ValueView::null(), ValueView::null()}),
            "Invalid null value in condition for column k");
  EXPECT_EQ(database.error_of(insert, {ValueView::unset(), ValueView::null(), ValueView::null()}),
            "Invalid unset value for column k");
  EXPECT_EQ(database.error_of(insert, {ValueView::of(key)}), "Invalid amount of bind variables");
}

TEST(Modify, TimestampsComeFromTheStatementThenTheClientThenTheServer) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  Request request;
  request.timestamp_micros = 500;
  ASSERT_TRUE(database.run("UPDATE t SET v = 1 WHERE k = 1", {}, request));
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 500 value 00000001"});
  database.must("TRUNCATE t");
  ASSERT_TRUE(database.run("UPDATE t USING TIMESTAMP 400 SET v = 1 WHERE k = 1", {}, request));
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 400 value 00000001"});
  database.must("TRUNCATE t");
  database.must("UPDATE t SET v = 1 WHERE k = 1");
  const auto records = database.records("t");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_GE(records[0]->fragment.cells[0].timestamp, WriteFixture::start_micros);
  const Bytes stamp = types::encode_int64(77);
  database.must("UPDATE t USING TIMESTAMP ? SET v = 1 WHERE k = 2", {ValueView::of(stamp)});
  EXPECT_EQ(database.error_of("UPDATE t USING TIMESTAMP ? SET v = 1 WHERE k = 2", {ValueView::null()}),
            "Invalid null value of timestamp");
}

TEST(Modify, ServerTimestampsNeverRepeat) {
  WriteFixture database;
  int64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t next = database.timestamps.next();
    EXPECT_GT(next, last);
    last = next;
  }
  database.clock.set_micros(WriteFixture::start_micros - 1'000'000);
  EXPECT_GT(database.timestamps.next(), last);
}

TEST(Modify, TimeToLive) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int) WITH default_time_to_live = 60");
  const std::string expiry = "expires " + std::to_string(now + 60);
  database.must("INSERT INTO t (k, v) VALUES (1, 2) USING TIMESTAMP 1");
  EXPECT_EQ(database.lines("t"), Lines{"row: marker at 1 ttl 60 " + expiry +
                                       "; cell 2 expiring at 1 ttl 60 " + expiry + " value 00000002"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, v) VALUES (1, 2) USING TIMESTAMP 1 AND TTL 0");
  EXPECT_EQ(database.lines("t"), Lines{"row: marker at 1; cell 2 live at 1 value 00000002"});
  database.must("TRUNCATE t");
  const std::string with_marker = "UPDATE t USING TIMESTAMP 1 AND TTL ? SET v = 2 WHERE k = 1";
  const Bytes ten = types::encode_int32(10), minus = types::encode_int32(-1),
              much = types::encode_int32(630'720'001);
  database.must(with_marker, {ValueView::of(ten)});
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 expiring at 1 ttl 10 expires " +
                                       std::to_string(now + 10) + " value 00000002"});
  database.must("TRUNCATE t");
  database.must(with_marker, {ValueView::unset()});
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 expiring at 1 ttl 60 " + expiry + " value 00000002"});
  database.must("TRUNCATE t");
  database.must(with_marker, {ValueView::null()});
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 1 value 00000002"});
  EXPECT_EQ(database.error_of(with_marker, {ValueView::of(minus)}),
            "A TTL must be greater or equal to 0, but was -1");
  EXPECT_EQ(database.error_of(with_marker, {ValueView::of(much)}),
            "ttl is too large. requested (630720001) maximum (630720000)");
  Request request;
  request.now_seconds = 1000;
  database.must("TRUNCATE t");
  ASSERT_TRUE(database.run(with_marker, {ValueView::of(ten)}, request));
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 expiring at 1 ttl 10 expires 1010 value 00000002"});
}

TEST(Modify, StaticColumnsAreInThePartitionRecord) {
  WriteFixture database;
  database.must(
      "CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))");  // column ids: k 1, c 2, s
                                                                                  // 3, v 4
  database.must("UPDATE t USING TIMESTAMP 1 SET s = 9 WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"partition: cell 3 live at 1 value 00000009"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, s) VALUES (1, 9) USING TIMESTAMP 1");
  EXPECT_EQ(database.lines("t"), Lines{"partition: cell 3 live at 1 value 00000009"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, c, s, v) VALUES (1, 2, 9, 8) USING TIMESTAMP 1");
  EXPECT_EQ(database.lines("t"), (Lines{"partition: cell 3 live at 1 value 00000009",
                                        "row: marker at 1; cell 4 live at 1 value 00000008"}));
  database.must("TRUNCATE t");
  database.must("DELETE s FROM t USING TIMESTAMP 2 WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"partition: cell 3 tombstone at 2 local " + std::to_string(now)});
}

TEST(Modify, DeletionsOfRowsRangesAndPartitions) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
  const std::string deletion = "deletion at 3 local " + std::to_string(now);
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1 AND d = 2");
  EXPECT_EQ(database.lines("t"), Lines{"row: " + deletion});
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"partition: " + deletion});
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.lines("t"), (Lines{"partition: range deletions", "range: " + deletion}));
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k IN (1, 2) AND c > 1 AND c <= 5");
  EXPECT_EQ(database.lines("t"), (Lines{"partition: range deletions", "range: " + deletion,
                                        "partition: range deletions", "range: " + deletion}));
  database.must("TRUNCATE t");
  database.must("DELETE v FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1 AND d IN (1, 2)");
  const std::string tombstone = "row: cell 4 tombstone at 3 local " + std::to_string(now);
  EXPECT_EQ(database.lines("t"), (Lines{tombstone, tombstone}));
  EXPECT_EQ(database.error_of("DELETE v FROM t WHERE k = 1 AND c = 1"),
            "Range deletions are not supported for specific columns");
}

struct CountingObserver final : Observer {
  void read(const schema::Table&, std::span<const Bytes>, uint64_t) override {}
  void written(const schema::Table&, std::span<const Bytes> prefixes) override {
    ++statements;
    partitions += prefixes.size();
  }
  void ended(const Counted&, const ResultSet&) override { ++ends; }
  size_t statements = 0, partitions = 0, ends = 0;
};

TEST(Modify, WritesAreObservedAndCommitsAreCounted) {
  storage::memory::Options options;
  options.fail_commit = [](uint64_t number) { return number % 2 == 1; };
  WriteFixture database(std::move(options));
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  CountingObserver observer;
  Environment environment = database.environment();
  environment.observer = &observer;
  const auto run = [&](const std::string& text, bool is_batch) {
    const auto prepared = database.prepare(text);
    ASSERT_TRUE(prepared);
    plan::Prepared counted = **prepared;
    counted.shape = std::make_shared<plan::QueryShape>();
    (is_batch ? static_cast<void (*)(const plan::Prepared&, const Request&, Environment&, Completion)>(batch)
              : modify)(counted, {}, environment, [](const base::Result<ResultSet>&) {});
  };
  const std::string batch_text =
      "BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); UPDATE t SET v = 1 WHERE k IN (2, 3); APPLY BATCH";
  const auto expect = [&](size_t statements, size_t partitions, size_t ends) {
    EXPECT_EQ(std::tuple(observer.statements, observer.partitions, observer.ends),
              std::tuple(statements, partitions, ends));
  };
  run("INSERT INTO t (k, v) VALUES (1, 1)", false);
  expect(1, 1, 0);
  run("INSERT INTO t (k, v) VALUES (1, 1)", false);
  expect(2, 2, 1);
  run(batch_text, true);
  expect(4, 5, 1);
  run(batch_text, true);
  expect(6, 8, 2);
  run("UPDATE t SET v = 2 WHERE k = 1 IF v = 1", false);
  expect(7, 9, 2);
  run("UPDATE t SET v = 2 WHERE k = 1 IF v = 1", false);
  run("UPDATE t SET v = 2 WHERE k = 1 IF v = 1", false);  // is not applied, so nothing is committed
  expect(9, 11, 4);
}

TEST(Modify, WritesAfterTruncateSurvive) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE TABLE u (k int PRIMARY KEY, v int)");
  for (int i = 0; i < 20; ++i) {
    database.must("INSERT INTO t (k, v) VALUES (" + std::to_string(i) + ", 1)");
    database.must("INSERT INTO u (k, v) VALUES (" + std::to_string(i) + ", 1)");
  }
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, v) VALUES (3, 1)");
  EXPECT_EQ(database.records("t").size(), 1u);
  EXPECT_EQ(database.records("u").size(), 20u);
}

TEST(Modify, PartitionKeyMarkersAreKnown) {
  WriteFixture database;
  database.must("CREATE TABLE t (a int, b int, c int, v int, PRIMARY KEY ((a, b), c))");
  const auto markers = [&](const std::string& text) {
    auto prepared = database.prepare(text);
    EXPECT_TRUE(prepared) << text;
    return prepared ? (*prepared)->partition_key_markers : std::vector<uint16_t>{};
  };
  EXPECT_EQ(markers("INSERT INTO t (v, b, c, a) VALUES (?, ?, ?, ?)"), (std::vector<uint16_t>{3, 1}));
  EXPECT_EQ(markers("UPDATE t SET v = ? WHERE b = ? AND a = ? AND c = ?"), (std::vector<uint16_t>{2, 1}));
  EXPECT_EQ(markers("UPDATE t SET v = ? WHERE b = 1 AND a = ? AND c = ?"), (std::vector<uint16_t>{}));
  EXPECT_EQ(markers("DELETE FROM t WHERE a = ? AND b = ?"), (std::vector<uint16_t>{0, 1}));
}

TEST(Modify, BoundNullUnsetAndEmptyMatchCassandra) {
  WriteFixture database;
  database.must("CREATE TYPE ty (a int, b text)");
  database.must(
      "CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>, s set<int>, m map<text, int>, u ty, fl "
      "frozen<list<int>>, tp tuple<int, text>)");
  database.must("CREATE TABLE p (a int, b int, c int, v int, s int static, PRIMARY KEY ((a, b), c))");
  database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  database.must("UPDATE t SET l = [1, 2] WHERE k = 1");
  const ValueView null = ValueView::null(), unset = ValueView::unset(), empty = ValueView::of({});
  struct Case {
    const char* statement;
    ValueView value;
    const char* error;
  };
  const Case cases[] = {
      {"INSERT INTO p (a, b, c) VALUES (1, 1, ?)", null, "Invalid null value in condition for column c"},
      {"INSERT INTO p (a, b, c) VALUES (1, 1, ?)", unset, "Invalid unset value for column c"},
      {"INSERT INTO p (a, b, c) VALUES (1, 1, ?)", empty, ""},
      {"INSERT INTO p (a, b, c) VALUES (1, ?, 1)", empty, ""},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b = 1 AND c = ?", null,
       "Invalid null value in condition for column c"},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b = 1 AND c = ?", unset, "Invalid unset value for column c"},
      {"UPDATE p SET v = 1 WHERE a = ? AND b = 1 AND c = 1", unset, "Invalid unset value for column a"},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b = 1 AND c IN ?", null, "Invalid null value for column c"},
      {"DELETE FROM p WHERE a = 1 AND b = 1 AND c > ?", unset, "Invalid unset value for column c"},
      {"DELETE FROM p WHERE a = 1 AND b = ?", null, "Invalid null value in condition for column b"},
      {"DELETE FROM p WHERE a = 1 AND b = ?", unset, "Invalid unset value for column b"},
      {"UPDATE t SET l = l + ? WHERE k = 1", null, ""},
      {"UPDATE t SET l = l - ? WHERE k = 1", null, ""},
      {"UPDATE t SET l = l - ? WHERE k = 1", unset, ""},
      {"UPDATE t SET l = ? + l WHERE k = 1", null, ""},
      {"UPDATE t SET l = ? + l WHERE k = 1", unset, ""},
      {"UPDATE t SET l[?] = 3 WHERE k = 1", null, "Invalid null value for list index"},
      {"UPDATE t SET l[?] = 3 WHERE k = 1", unset, "Invalid unset value for list index"},
      {"UPDATE t SET l[0] = ? WHERE k = 1", unset, ""},
      {"DELETE l[?] FROM t WHERE k = 1", null, "Invalid null value for list index"},
      {"DELETE l[?] FROM t WHERE k = 1", unset, ""},
      {"UPDATE t SET m[?] = 3 WHERE k = 1", null, "Invalid null map key"},
      {"UPDATE t SET m[?] = 3 WHERE k = 1", unset, "Invalid unset map key"},
      {"DELETE m[?] FROM t WHERE k = 1", null, "Invalid null map key"},
      {"DELETE m[?] FROM t WHERE k = 1", unset, "Invalid unset map key"},
      {"DELETE s[?] FROM t WHERE k = 1", null, "Invalid null set element"},
      {"DELETE s[?] FROM t WHERE k = 1", unset, ""},
      {"UPDATE t SET s = s + ? WHERE k = 1", null, ""},
      {"UPDATE t SET s = s - ? WHERE k = 1", null, ""},
      {"UPDATE t SET s = s + ? WHERE k = 1", unset, ""},
      {"UPDATE t SET m = m + ? WHERE k = 1", null, ""},
      {"UPDATE t SET m = m - ? WHERE k = 1", null, ""},
      {"UPDATE t SET m = m + ? WHERE k = 1", unset, ""},
      {"UPDATE t SET m = m - ? WHERE k = 1", unset, ""},
      {"UPDATE t SET u.a = ? WHERE k = 1", unset, ""},
      {"UPDATE t SET u.a = ? WHERE k = 1", null, ""},
      {"UPDATE t SET u = ? WHERE k = 1", null, ""},
      {"UPDATE t SET u = ? WHERE k = 1", unset, ""},
      {"UPDATE t SET l = [?, 2] WHERE k = 1", null,
       "Invalid list literal for l: bind variables are not supported inside collection literals"},
      {"UPDATE t SET l = [?, 2] WHERE k = 1", unset,
       "Invalid list literal for l: bind variables are not supported inside collection literals"},
      {"UPDATE t SET s = {?, 2} WHERE k = 1", unset,
       "Invalid set literal for s: bind variables are not supported inside collection literals"},
      {"UPDATE t SET m = {?: 2} WHERE k = 1", unset,
       "Invalid map literal for m: bind variables are not supported inside collection literals"},
      {"UPDATE t SET m = {'a': ?} WHERE k = 1", unset,
       "Invalid map literal for m: bind variables are not supported inside collection literals"},
      {"UPDATE t SET tp = (?, 'a') WHERE k = 1", unset, "Invalid unset value for tuple field number 0"},
      {"UPDATE t SET u = {a: ?} WHERE k = 1", unset, ""},
      {"UPDATE t USING TTL ? SET v = 1 WHERE k = 1", null, ""},
      {"UPDATE t USING TTL ? SET v = 1 WHERE k = 1", unset, ""},
      {"UPDATE t USING TTL ? SET v = 1 WHERE k = 1", empty, ""},
      {"UPDATE t USING TIMESTAMP ? SET v = 1 WHERE k = 1", null, "Invalid null value of timestamp"},
      {"UPDATE t USING TIMESTAMP ? SET v = 1 WHERE k = 1", unset, ""},
      {"UPDATE n SET n = n + ? WHERE k = 1", null, "Invalid null value for counter increment"},
      {"UPDATE n SET n = n + ? WHERE k = 1", unset, ""},
      {"UPDATE n SET n = n - ? WHERE k = 1", null, "Invalid null value for counter increment"},
      {"UPDATE n SET n = n - ? WHERE k = 1", unset, ""},
      {"INSERT INTO t JSON ?", null, "Got null for INSERT JSON values"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(database.error_of(one.statement, {one.value}), one.error) << one.statement;
}

}  // namespace
}  // namespace sibyl::execute
