#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "execute/modify_fixture_test.h"
#include "execute/quick.h"
#include "plan/modify.h"
#include "row/counter.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;
using Lines = std::vector<std::string>;

constexpr int64_t now = WriteFixture::start_seconds;

Lines lines(const WriteFixture& database, const std::string& table) {
  static const char* kinds[] = {"partition: ", "range: ", "row: "};
  Lines out;
  for (const auto& record : database.records(table))
    out.push_back(kinds[static_cast<size_t>(record->kind)] + record->print());
  return out;
}

TEST(Modify, InsertLeavesAMarkerAndUpdateDoesNot) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w text)");
  database.must("INSERT INTO t (k, v) VALUES (1, 7) USING TIMESTAMP 10");
  EXPECT_EQ(lines(database, "t"), Lines{"row: marker at 10; cell 2 live at 10 value 00000007"});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 11 SET v = 7, w = '' WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 11 value 00000007; cell 3 live at 11 value -"});
}

TEST(Modify, NullUnsetAndEmptyDiffer) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, w text)");
  const Bytes key = types::encode_int32(1);
  const std::string insert = "INSERT INTO t (k, v, w) VALUES (?, ?, ?) USING TIMESTAMP 5";
  database.must(insert, {ValueView::of(key), ValueView::null(), ValueView::unset()});
  EXPECT_EQ(lines(database, "t"),
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
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 500 value 00000001"});
  database.must("TRUNCATE t");
  ASSERT_TRUE(database.run("UPDATE t USING TIMESTAMP 400 SET v = 1 WHERE k = 1", {}, request));
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 400 value 00000001"});
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
  EXPECT_EQ(lines(database, "t"), Lines{"row: marker at 1 ttl 60 " + expiry +
                                        "; cell 2 expiring at 1 ttl 60 " + expiry + " value 00000002"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, v) VALUES (1, 2) USING TIMESTAMP 1 AND TTL 0");
  EXPECT_EQ(lines(database, "t"), Lines{"row: marker at 1; cell 2 live at 1 value 00000002"});
  database.must("TRUNCATE t");
  const std::string with_marker = "UPDATE t USING TIMESTAMP 1 AND TTL ? SET v = 2 WHERE k = 1";
  const Bytes ten = types::encode_int32(10), minus = types::encode_int32(-1),
              much = types::encode_int32(630'720'001);
  database.must(with_marker, {ValueView::of(ten)});
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 expiring at 1 ttl 10 expires " +
                                        std::to_string(now + 10) + " value 00000002"});
  database.must("TRUNCATE t");
  database.must(with_marker, {ValueView::unset()});
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 expiring at 1 ttl 60 " + expiry + " value 00000002"});
  database.must("TRUNCATE t");
  database.must(with_marker, {ValueView::null()});
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 1 value 00000002"});
  EXPECT_EQ(database.error_of(with_marker, {ValueView::of(minus)}),
            "A TTL must be greater or equal to 0, but was -1");
  EXPECT_EQ(database.error_of(with_marker, {ValueView::of(much)}),
            "ttl is too large. requested (630720001) maximum (630720000)");
  Request request;
  request.now_seconds = 1000;
  database.must("TRUNCATE t");
  ASSERT_TRUE(database.run(with_marker, {ValueView::of(ten)}, request));
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 expiring at 1 ttl 10 expires 1010 value 00000002"});
}

TEST(Modify, StaticColumnsLieInThePartitionsRecord) {
  WriteFixture database;
  database.must(
      "CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))");  // k 1, c 2, s 3, v 4
  database.must("UPDATE t USING TIMESTAMP 1 SET s = 9 WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"partition: cell 3 live at 1 value 00000009"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, s) VALUES (1, 9) USING TIMESTAMP 1");
  EXPECT_EQ(lines(database, "t"), Lines{"partition: cell 3 live at 1 value 00000009"});
  database.must("TRUNCATE t");
  database.must("INSERT INTO t (k, c, s, v) VALUES (1, 2, 9, 8) USING TIMESTAMP 1");
  EXPECT_EQ(lines(database, "t"), (Lines{"partition: cell 3 live at 1 value 00000009",
                                         "row: marker at 1; cell 4 live at 1 value 00000008"}));
  database.must("TRUNCATE t");
  database.must("DELETE s FROM t USING TIMESTAMP 2 WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"partition: cell 3 tombstone at 2 local " + std::to_string(now)});
}

TEST(Modify, DeletionsOfRowsRangesAndPartitions) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
  const std::string deletion = "deletion at 3 local " + std::to_string(now);
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1 AND d = 2");
  EXPECT_EQ(lines(database, "t"), Lines{"row: " + deletion});
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"partition: " + deletion});
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1");
  EXPECT_EQ(lines(database, "t"), (Lines{"partition: range deletions", "range: " + deletion}));
  database.must("TRUNCATE t");
  database.must("DELETE FROM t USING TIMESTAMP 3 WHERE k IN (1, 2) AND c > 1 AND c <= 5");
  EXPECT_EQ(lines(database, "t"), (Lines{"partition: range deletions", "range: " + deletion,
                                         "partition: range deletions", "range: " + deletion}));
  database.must("TRUNCATE t");
  database.must("DELETE v FROM t USING TIMESTAMP 3 WHERE k = 1 AND c = 1 AND d IN (1, 2)");
  const std::string tombstone = "row: cell 4 tombstone at 3 local " + std::to_string(now);
  EXPECT_EQ(lines(database, "t"), (Lines{tombstone, tombstone}));
  EXPECT_EQ(database.error_of("DELETE v FROM t WHERE k = 1 AND c = 1"),
            "Range deletions are not supported for specific columns");
}

TEST(Modify, SetsAndMapsHaveOneCellPerElement) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, m map<text, int>, s set<int>)");  // m 2, s 3
  const std::string local = " local " + std::to_string(now);
  database.must("UPDATE t USING TIMESTAMP 5 SET s = {2, 1} WHERE k = 1");
  auto records = database.records("t");
  ASSERT_EQ(records.size(), 1u);
  const row::Fragment& fragment = records[0]->fragment;
  ASSERT_EQ(fragment.column_deletions.size(), 1u);
  EXPECT_EQ(fragment.column_deletions[0].deletion.timestamp, 4);
  ASSERT_EQ(fragment.cells.size(), 2u);
  EXPECT_LT(fragment.cells[0].path, fragment.cells[1].path);
  EXPECT_EQ(fragment.cells[0].timestamp, 5);
  EXPECT_TRUE(fragment.cells[0].value.empty());

  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET s = s + {1}, m['a'] = 3 WHERE k = 1");
  records = database.records("t");
  ASSERT_EQ(records[0]->fragment.cells.size(), 2u);
  EXPECT_TRUE(records[0]->fragment.column_deletions.empty());
  EXPECT_EQ(records[0]->fragment.cells[0].value, types::encode_int32(3));

  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET s = s - {1}, m = m - {'a'} WHERE k = 1");
  records = database.records("t");
  ASSERT_EQ(records[0]->fragment.cells.size(), 2u);
  for (const row::Cell& cell : records[0]->fragment.cells) EXPECT_EQ(cell.kind, row::CellKind::tombstone);

  database.must("TRUNCATE t");
  database.must("DELETE s FROM t USING TIMESTAMP 5 WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"row: column 3 deletion at 5" + local});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET s = null, m = {} WHERE k = 1");
  EXPECT_EQ(lines(database, "t"),
            Lines{"row: column 2 deletion at 4" + local + "; column 3 deletion at 4" + local});
}

// The values of a list column, in order, as a reader sees them.
std::vector<int32_t> list_of(const WriteFixture& database, const std::string& table,
                             const std::string& column) {
  std::vector<int32_t> values;
  for (const auto& record : database.records(table)) {
    row::Fragment fragment = record->fragment;
    row::visible_at(fragment, {}, now);
    for (const row::Cell& cell : fragment.cells)
      if (cell.column == database.column(table, column))
        values.push_back(static_cast<int32_t>(types::decode_integer(types::Kind::int_, cell.value)));
  }
  return values;
}

TEST(Modify, ListsKeepTheirOrder) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, l list<int>)");
  using List = std::vector<int32_t>;
  database.must("UPDATE t SET l = [5, 6] WHERE k = 1");
  database.must("UPDATE t SET l = l + [7, 7, 8] WHERE k = 1");
  database.must("UPDATE t SET l = [3, 4] + l WHERE k = 1");
  database.must("UPDATE t SET l = [1, 2] + l WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), (List{1, 2, 3, 4, 5, 6, 7, 7, 8}));
  database.must("UPDATE t SET l = l - [7, 2] WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), (List{1, 3, 4, 5, 6, 8}));
  database.must("UPDATE t SET l[1] = 30 WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), (List{1, 30, 4, 5, 6, 8}));
  database.must("DELETE l[0] FROM t WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), (List{30, 4, 5, 6, 8}));
  database.must("UPDATE t SET l[0] = null WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), (List{4, 5, 6, 8}));
  EXPECT_EQ(database.error_of("UPDATE t SET l[4] = 1 WHERE k = 1"),
            "List index 4 out of bound, list has size 4");
  EXPECT_EQ(database.error_of("DELETE l[-1] FROM t WHERE k = 1"),
            "List index -1 out of bound, list has size 4");
  const Bytes zero = types::encode_int32(0);
  database.must("UPDATE t SET l = [] WHERE k = 1");
  EXPECT_EQ(list_of(database, "t", "l"), List{});
  EXPECT_EQ(database.error_of("DELETE l[?] FROM t WHERE k = 1", {ValueView::of(zero)}),
            "Attempted to delete an element from a list which is null");
}

TEST(Modify, ListPositionsRespectDeletionsAround) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, l list<int>, PRIMARY KEY (k, c))");
  database.must("INSERT INTO t (k, c, l) VALUES (1, 1, [1, 2])");
  database.must("INSERT INTO t (k, c, l) VALUES (1, 9, [1, 2])");
  database.must("DELETE FROM t WHERE k = 1 AND c < 5");
  EXPECT_EQ(database.error_of("UPDATE t SET l[0] = 5 WHERE k = 1 AND c = 1"),
            "Attempted to set an element on a list which is null");
  EXPECT_EQ(database.error_of("UPDATE t SET l[0] = 5 WHERE k = 1 AND c = 9"), "");
  database.must("DELETE FROM t WHERE k = 1");
  EXPECT_EQ(database.error_of("UPDATE t SET l[0] = 5 WHERE k = 1 AND c = 9"),
            "Attempted to set an element on a list which is null");
}

TEST(Modify, UserTypesAreWrittenByField) {
  WriteFixture database;
  database.must("CREATE TYPE u (a int, b text)");
  database.must("CREATE TABLE t (k int PRIMARY KEY, f frozen<u>, v u)");  // f 2, v 3
  const std::string local = " local " + std::to_string(now);
  database.must("UPDATE t USING TIMESTAMP 5 SET v = {a: 1} WHERE k = 1");
  EXPECT_EQ(lines(database, "t"),
            Lines{"row: column 3 deletion at 4" + local + "; cell 3 live at 5 path 0000 value 00000001"});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET v.b = 'x', v.a = null WHERE k = 1");
  EXPECT_EQ(lines(database, "t"),
            Lines{"row: cell 3 tombstone at 5 path 0000" + local + "; cell 3 live at 5 path 0001 value 78"});
  database.must("TRUNCATE t");
  database.must("DELETE v.b FROM t USING TIMESTAMP 5 WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 3 tombstone at 5 path 0001" + local});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET f = {a: 1, b: 'x'} WHERE k = 1");
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 5 value 00000004000000010000000178"});
}

TEST(Modify, ElementsAndKeysThatLoseBytesKeepThem) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c decimal, s set<decimal>, PRIMARY KEY (k, c))");
  database.must("INSERT INTO t (k, c, s) VALUES (1, 1.00, {2.50})");
  const auto records = database.records("t");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(records[0]->fragment.original_clustering.empty());
  ASSERT_EQ(records[0]->fragment.cells.size(), 1u);
  EXPECT_EQ(base::to_hex(records[0]->fragment.cells[0].original_path), "0000000200fa");
  database.must("INSERT INTO t (k, c) VALUES (1, 1)");
  EXPECT_EQ(database.records("t").size(), 1u) << "1 and 1.00 are one key";
}

std::map<std::string, int64_t> counters_of(const WriteFixture& database, const std::string& table) {
  std::map<std::string, int64_t> values;
  for (const auto& record : database.records(table)) {
    row::Fragment fragment = record->fragment;
    row::visible_at(fragment, {}, now);
    for (const row::Cell& cell : fragment.cells) {
      row::CounterValue counter;
      EXPECT_TRUE(row::decode_counter(cell.value, counter));
      values[database.schema->find_table("e", table)->find_by_id(cell.column)->name] += counter.value;
    }
  }
  return values;
}

TEST(Modify, CountersAddUp) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, n counter, m counter, s counter static, PRIMARY KEY (k, c))");
  database.must("UPDATE t SET n = n + 5, m -= 2, s += 1 WHERE k = 1 AND c = 1");
  database.must("UPDATE t SET n = n - 1, s += 1 WHERE k = 1 AND c = 1");
  using Counters = std::map<std::string, int64_t>;
  EXPECT_EQ(counters_of(database, "t"), (Counters{{"n", 4}, {"m", -2}, {"s", 2}}));
  database.must("DELETE n FROM t WHERE k = 1 AND c = 1");
  EXPECT_EQ(counters_of(database, "t"), (Counters{{"m", -2}, {"s", 2}}));
  database.must("UPDATE t SET n += 3 WHERE k = 1 AND c = 1");
  EXPECT_EQ(counters_of(database, "t"), (Counters{{"n", 3}, {"m", -2}, {"s", 2}}));
  database.must("DELETE FROM t WHERE k = 1");
  database.must("UPDATE t SET n += 1 WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.error_of("UPDATE t SET n = n + ? WHERE k = 1 AND c = 1", {ValueView::null()}),
            "Invalid null value for counter increment");
  database.must("UPDATE t SET n = n + ? WHERE k = 1 AND c = 1", {ValueView::unset()});
}

TEST(Modify, ConcurrentIncrementsAreExact) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  auto prepared = database.prepare("UPDATE t SET n = n + 1 WHERE k = 1");
  ASSERT_TRUE(prepared);
  constexpr int threads = 4, rounds = 500;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      Environment environment = database.environment();
      for (int round = 0; round < rounds; ++round)
        modify(**prepared, {}, environment, [](base::Result<ResultSet> result) { ASSERT_TRUE(result); });
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(counters_of(database, "t")["n"], threads * rounds);
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

TEST(Modify, WhatIsHandedToTheStoreIsObservedAndWhatWasCommittedIsCounted) {
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
    counted.usage = std::make_shared<int>();
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
  run("UPDATE t SET v = 2 WHERE k = 1 IF v = 1", false);  // does not apply: nothing is committed
  expect(9, 11, 4);
}

TEST(Modify, AFailedCommitReleasesTheLock) {
  storage::memory::Options options;
  options.fail_commit = [](uint64_t number) { return number == 1; };
  WriteFixture database(std::move(options));
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  EXPECT_FALSE(database.run("UPDATE t SET n += 1 WHERE k = 1"));
  database.must("UPDATE t SET n += 1 WHERE k = 1");
  EXPECT_EQ(counters_of(database, "t")["n"], 1);
}

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
  EXPECT_EQ(lines(database, "t"), Lines{"row: cell 2 live at 9 value 00000002"})
      << "equal timestamps: the larger value";
  database.must("BEGIN BATCH APPLY BATCH");
  EXPECT_EQ(database.error_of(
                "BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1; UPDATE t SET v = 'x' WHERE k = 2; APPLY BATCH"),
            "Invalid STRING constant (x) for \"v\" of type int");
}

TEST(Modify, CountersOfOneBatchAddUp) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  database.must(
      "BEGIN COUNTER BATCH UPDATE t SET n += 1 WHERE k = 1 UPDATE t SET n += 2 WHERE k = 1 UPDATE t SET n -= "
      "5 WHERE k = 2 APPLY BATCH");
  database.must(
      "BEGIN COUNTER BATCH UPDATE t SET n += 1 WHERE k = 1 UPDATE t SET n += 2 WHERE k = 1 APPLY BATCH");
  EXPECT_EQ(counters_of(database, "t")["n"], 6 - 5);
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
  EXPECT_EQ(counters_of(database, "n")["n"], 6);
  EXPECT_EQ(run(cql::Batch::Kind::logged, {{*count, delta}}),
            "Cannot include a counter statement in a logged batch");
  EXPECT_EQ(run(cql::Batch::Kind::counter, {{*insert, first}}),
            "Cannot include non-counter statement in a counter batch");
  auto drop = database.prepare("DROP TABLE t");
  ASSERT_TRUE(drop);
  EXPECT_EQ(run(cql::Batch::Kind::logged, {{*drop, {}}}),
            "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.");
}

TEST(Modify, LargeBatchesWarnThenFail) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, w text)");
  const auto batch_of = [&](size_t size) {
    return database.run("BEGIN BATCH INSERT INTO t (k, w) VALUES (1, '" + std::string(size, 'x') +
                        "'); INSERT INTO t (k, w) VALUES (2, 'b'); APPLY BATCH");
  };
  auto small = batch_of(100);
  ASSERT_TRUE(small);
  EXPECT_TRUE(small->warnings.empty());
  auto large = batch_of(6000);
  ASSERT_TRUE(large);
  ASSERT_EQ(large->warnings.size(), 1u);
  EXPECT_TRUE(large->warnings[0].starts_with("Batch for [e.t] is of size 6")) << large->warnings[0];
  auto huge = batch_of(60'000);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().message(), "Batch too large");
  EXPECT_TRUE(database.run("BEGIN BATCH INSERT INTO t (k, w) VALUES (1, '" + std::string(60'000, 'x') +
                           "'); INSERT INTO t (k, w) VALUES (1, 'b'); APPLY BATCH"))
      << "one partition may be any size";
}

TEST(Modify, JsonInserts) {
  WriteFixture database;
  database.must("CREATE TYPE u (a int, \"B\" text)");
  database.must(
      "CREATE TABLE t (k int PRIMARY KEY, l list<int>, m map<text, int>, v u, w decimal, x bigint)");
  database.must(
      "INSERT INTO t JSON '{\"k\": \"1\", \"l\": [1, \"2\"], \"m\": {\"b\": 1, \"a\": 2}, \"v\": {\"a\": 5, "
      "\"\\\"B\\\"\": \"\\u00e9\"}, \"w\": 1.50}'");
  EXPECT_EQ(list_of(database, "t", "l"), (std::vector<int32_t>{1, 2}));
  auto records = database.records("t");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0]->fragment.marker.exists());
  const std::string text = records[0]->print();
  EXPECT_NE(text.find("value c3a9"), std::string::npos) << text;
  EXPECT_NE(text.find("value 000000020096"), std::string::npos) << text;
  EXPECT_NE(text.find("cell 6 tombstone"), std::string::npos) << text;
  database.must("TRUNCATE t");
  database.must("INSERT INTO t JSON '{\"k\": 1, \"x\": 3}' DEFAULT UNSET USING TIMESTAMP 4");
  EXPECT_EQ(lines(database, "t"), Lines{"row: marker at 4; cell 6 live at 4 value 0000000000000003"});
  EXPECT_EQ(
      database.error_of("INSERT INTO t JSON '{\"k\": 1, \"X\": 99999999999999999999}'"),
      "Error decoding JSON value for x: Expected a bigint value, but got a BigInteger: 99999999999999999999");
  EXPECT_EQ(database.error_of("INSERT INTO t JSON '{\"x\": 1}'"),
            "Invalid null value in condition for column k");
  EXPECT_TRUE(database.error_of("INSERT INTO t JSON '{\"k\": 1'")
                  .starts_with("Could not decode JSON string as a map"));
  EXPECT_TRUE(database.error_of("INSERT INTO t JSON '" + std::string(5000, '[') + "'")
                  .starts_with("Could not decode"));
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

std::string list_of(size_t count) {
  std::string list = "(0";
  for (size_t i = 1; i < count; ++i) list += "," + std::to_string(i);
  return list + ")";
}

TEST(Modify, WhatINsNameTogetherIsLimited) {
  WriteFixture database;
  database.must("CREATE TABLE t (a int, c int, d int, v int, PRIMARY KEY (a, c, d))");
  database.must("CREATE TABLE n (a int, c int, n counter, PRIMARY KEY (a, c))");
  const std::string many = list_of(317), tens = list_of(10);  // 317 * 317 > 100,000
  const std::string refusal = "The IN restrictions name more than 100000 combinations of values";
  EXPECT_EQ(database.error_of("UPDATE t SET v = 1 WHERE a IN " + many + " AND c IN " + many + " AND d = 1"),
            refusal);
  EXPECT_EQ(database.error_of("DELETE FROM t WHERE a IN " + many + " AND c IN " + many), refusal);
  EXPECT_EQ(database.error_of("DELETE FROM t WHERE a IN " + many + " AND c IN " + many + " AND d > 1"),
            refusal);
  EXPECT_EQ(database.error_of("UPDATE n SET n += 1 WHERE a IN " + many + " AND c IN " + many), refusal);
  // All statements of a batch are one.
  std::string batch = "BEGIN UNLOGGED BATCH ";
  for (int i = 0; i < 11; ++i) batch += "DELETE FROM t WHERE a = 1 AND c IN " + list_of(10'000) + ";";
  EXPECT_EQ(database.error_of(batch + " APPLY BATCH"), refusal);
  EXPECT_TRUE(database.records("t").empty());
  EXPECT_TRUE(database.records("n").empty());
  database.must("UPDATE t SET v = 1 WHERE a IN " + tens + " AND c IN " + tens + " AND d IN " + tens);
  EXPECT_EQ(database.records("t").size(), 1000u);
}

TEST(Modify, WhatIsWrittenTogetherIsLimited) {
  WriteFixture database;
  database.must("CREATE TABLE t (a int, b text, c int, v blob, PRIMARY KEY ((a, b), c))");
  const Bytes value(1u << 20, 'x');
  const auto of_value = types::ValueView::of(value);
  const auto update = [](size_t rows) {
    return "UPDATE t SET v = ? WHERE a = 1 AND b = 'it''s' AND c IN " + list_of(rows);
  };
  EXPECT_EQ(database.error_of(update(63), {of_value}), "");
  const std::string refusal = database.error_of(update(65), {of_value});
  EXPECT_TRUE(refusal.starts_with("Rejected an oversized mutation (")) << refusal;
  EXPECT_TRUE(refusal.ends_with("/67108864) for keyspace: e. Top keys are: t.1:'it''s'")) << refusal;
  EXPECT_EQ(database.records("t").size(), 63u);
}

// Somebody has read, and will write what follows from it: what is to be gone must not go in between.
TEST(Modify, TruncateAndDeletionsOfCountersWaitForThoseWhoHaveRead) {
  WriteFixture database;
  database.must("CREATE TABLE n (k int, c int, s counter STATIC, n counter, PRIMARY KEY (k, c))");
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  const Bytes key = types::encode_int32(1);
  for (const std::string text :
       {"TRUNCATE n", "TRUNCATE t", "DELETE FROM n WHERE k = 1", "DELETE FROM n WHERE k = 1 AND c > 0",
        "DELETE FROM n WHERE k IN (1, 2) AND c = 0", "DELETE s FROM n WHERE k = 1",
        "BEGIN COUNTER BATCH DELETE n FROM n WHERE k = 1 AND c = 0 APPLY BATCH"}) {
    const std::string table = text == "TRUNCATE t" ? "t" : "n";
    const Bytes prefix = row::partition_prefix(database.schema->find_table("e", table)->storage_id, key);
    PartitionLocks::Held reader = database.locks.acquire(std::span(&prefix, 1));
    auto done = std::async(std::launch::async, [&] { return database.run(text).has_value(); });
    // Time for one that does not wait to be found out.
    EXPECT_EQ(done.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout) << text;
    reader.release();
    EXPECT_TRUE(done.get()) << text;
  }
}

TEST(Modify, OnlyWhatReadsFirstOrNamesManyRowsMayBlock) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>)");
  database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  const auto blocks = [&](const std::string& text) {
    auto prepared = database.prepare(text);
    EXPECT_TRUE(prepared) << text;
    return prepared && may_block(**prepared);
  };
  EXPECT_FALSE(blocks("INSERT INTO t (k, v) VALUES (?, ?)"));
  EXPECT_FALSE(blocks("UPDATE t SET l = l + ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE t SET l = l - ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE t SET l[?] = ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE n SET n += ? WHERE k = ?"));
  EXPECT_TRUE(blocks("DELETE FROM n WHERE k = ?"));
  EXPECT_TRUE(blocks("BEGIN COUNTER BATCH UPDATE n SET n += 1 WHERE k = 1; APPLY BATCH"));
  EXPECT_TRUE(blocks("UPDATE t SET v = ? WHERE k IN ?"));
  EXPECT_TRUE(blocks("DELETE FROM t WHERE k IN (?, ?)"));
  EXPECT_TRUE(
      blocks("BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); DELETE FROM t WHERE k IN ? APPLY BATCH"));
  const auto batch_of = [](size_t statements) {
    std::string text = "BEGIN BATCH ";
    for (size_t i = 0; i < statements; ++i) text += "INSERT INTO t (k, v) VALUES (1, 1); ";
    return text + "APPLY BATCH";
  };
  EXPECT_FALSE(blocks(batch_of(quick_batch)));
  EXPECT_TRUE(blocks(batch_of(quick_batch + 1)));
}

TEST(Modify, MarkersOfTheKeyAreKnown) {
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

TEST(Modify, BoundNullUnsetAndEmptyAsCassandraTakesThem) {
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
