#include <gtest/gtest.h>

#include <chrono>

#include "execute/trace.h"
#include "execute/write/batch.h"
#include "execute/write/modify_fixture_test.h"
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

class Steps final : public Trace {
 public:
  void step(std::string activity) override { steps.push_back(std::move(activity)); }
  std::vector<std::string> steps;
};

// Runs a batch of one prepared statement, once for each value of its only marker.
std::string run_many(WriteFixture& database, const std::string& text, const std::vector<Bytes>& values,
                     Request request = {}) {
  auto statement = database.prepare(text);
  EXPECT_TRUE(statement) << text << ": " << statement.error().text();
  std::vector<ValueView> views;
  for (const Bytes& value : values) views.push_back(ValueView::of(value));
  std::vector<BatchItem> items;
  for (size_t i = 0; i < views.size(); ++i) items.push_back({*statement, std::span(views).subspan(i, 1)});
  std::string answer = "never";
  Environment environment = database.environment();
  batch(cql::Batch::Kind::unlogged, items, request, environment, nullptr,
        [&](base::Result<ResultSet> result) { answer = result ? "" : result.error().message(); });
  return answer;
}

std::vector<Bytes> integers(int count) {
  std::vector<Bytes> values;
  for (int i = 0; i < count; ++i) values.push_back(types::encode_int32(i));
  return values;
}

TEST(Modify, UpdatesOfOneRowAreCommittedAsOneRecord) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, m map<int, int>)");
  Steps trace;
  Request request;
  request.trace = &trace;
  EXPECT_EQ(run_many(database, "UPDATE t SET m[?] = 1 WHERE k = 1", integers(1000), request), "");
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_TRUE(trace.steps[0].starts_with("Committing 1 records of ")) << trace.steps[0];
  EXPECT_EQ(database.records("t")[0]->fragment.cells.size(), 1000u);
}

// 40,000 * 40,000 steps would take too long for a test: each statement must find its element directly.
TEST(Modify, ABatchMayChangeEachElementOfALongList) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, l list<int>)");
  constexpr int elements = 40'000;
  const Bytes one = types::encode_int32(1);
  Bytes list = types::encode_int32(elements);
  for (int i = 0; i < elements; ++i) list += types::encode_int32(4) + one;
  database.must("INSERT INTO t (k, l) VALUES (1, ?)", {ValueView::of(list)});
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(run_many(database, "UPDATE t SET l[?] = 2 WHERE k = 1", integers(elements)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
  size_t changed = 0;
  for (const row::Cell& cell : database.records("t")[0]->fragment.cells)
    changed += cell.value == types::encode_int32(2) ? 1 : 0;
  EXPECT_EQ(changed, static_cast<size_t>(elements));
}

// Rows are read with the range deletions of their partition, which are read once.
TEST(Modify, ManyRowsUnderManyRangeDeletionsAreReadBeforeTheyAreWritten) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, l list<int>, PRIMARY KEY (k, c))");
  constexpr int rows = 4'000;
  EXPECT_EQ(run_many(database, "DELETE FROM t USING TIMESTAMP 5 WHERE k = 1 AND c > ?", integers(rows)), "");
  EXPECT_EQ(run_many(database, "INSERT INTO t (k, c, l) VALUES (1, ?, [1])", integers(rows)), "");
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(run_many(database, "UPDATE t SET l[0] = 2 WHERE k = 1 AND c = ?", integers(rows)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
}

// The client has disconnected, so the rest of its batch is not built.
TEST(Modify, BatchesAreInterrupted) {
  struct Gone final : Interrupt {
    base::Status check() const override { return base::invalid("gone"); }
  };
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  const Gone gone;
  Request request;
  request.interrupt = &gone;
  EXPECT_EQ(run_many(database, "INSERT INTO t (k, v) VALUES (?, 1)", integers(2), request), "");
  EXPECT_EQ(run_many(database, "INSERT INTO t (k, v) VALUES (?, 1)", integers(1000), request), "gone");
  EXPECT_EQ(database.records("t").size(), 2u);
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
