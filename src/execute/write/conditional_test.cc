// Tests conditional writes with bound values, their timestamps and locks, and protocol batches. Statements
// with literals are tested in tests/compat/conditions.cql and conditional_batches.cql.
#include "execute/write/conditional.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "execute/write/batch.h"
#include "execute/write/modify.h"
#include "execute/write/modify_fixture_test.h"
#include "plan/statements/modify.h"
#include "types/elements.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;
using Lines = std::vector<std::string>;

// Column names, then rows; or the error's message.
Lines print_rows(const base::Result<ResultSet>& result) {
  if (!result) return {"error: " + result.error().message()};
  Lines lines(1);
  for (const plan::ColumnSpec& column : result->metadata->columns)
    lines[0] += (lines[0].empty() ? "" : "|") + column.name;
  base::Reader reader(result->rows.bytes());
  for (size_t row = 0; row < result->rows.count(); ++row) {
    std::string line;
    for (const plan::ColumnSpec& column : result->metadata->columns) {
      uint32_t size = 0;
      BytesView value;
      EXPECT_TRUE(reader.big_endian(size));
      if (!line.empty()) line += "|";
      if (static_cast<int32_t>(size) < 0) {
        line += "null";
      } else {
        EXPECT_TRUE(reader.take(size, value));
        line += types::to_display(*column.type, value);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

const Lines applied = {"[applied]", "True"};
const Lines nothing_there = {"[applied]", "False"};

ValueView of(const Bytes& bytes) {
  return ValueView::of(bytes);
}

class Conditional : public testing::Test, public WriteFixture {
 protected:
  Conditional() {
    must("CREATE TYPE ty (a int, b text)");
    must(
        "CREATE TABLE t (k int, c int, s int STATIC, v int, w text, l list<int>, m map<text, int>, u ty, "
        "fl frozen<list<int>>, PRIMARY KEY (k, c))");
    must(
        "INSERT INTO t (k, c, s, v, w, l, m, u, fl) VALUES (1, 1, 5, 1, '', [1, 2], {'a': 1}, {a: 1}, [1, "
        "2]) "
        "USING TIMESTAMP 10");
    must("INSERT INTO t (k, c, v) VALUES (1, 2, 2) USING TIMESTAMP 10");
  }

  // Runs an UPDATE of row (1, 1) that changes nothing, under a condition with these values.
  Lines run_conditional(const std::string& condition, std::vector<ValueView> values, int row = 1) {
    return print_rows(
        run("UPDATE t SET v = 1 WHERE k = 1 AND c = " + std::to_string(row) + " IF " + condition,
            std::move(values)));
  }
  Lines run_conditional(const std::string& text) { return print_rows(run(text)); }
  Lines error(const std::string& message) { return {"error: " + message}; }

  // The latest timestamp of each record of a table.
  std::vector<int64_t> latest(const std::string& table) const {
    std::vector<int64_t> all;
    for (const auto& record : records(table)) {
      int64_t one = std::max(record->fragment.marker.timestamp, record->fragment.deletion.timestamp);
      for (const row::Cell& cell : record->fragment.cells) one = std::max(one, cell.timestamp);
      all.push_back(one);
    }
    return all;
  }

  const Bytes one = types::encode_int32(1), two = types::encode_int32(2), empty;
};

TEST_F(Conditional, NullUnsetAndEmptyDiffer) {
  const Lines v_is_one = {"[applied]|v", "False|1"};
  EXPECT_EQ(run_conditional("v = ?", {of(one)}), applied);
  EXPECT_EQ(run_conditional("v = ?", {ValueView::null()}), v_is_one);
  EXPECT_EQ(run_conditional("v != ?", {ValueView::null()}), applied);
  EXPECT_EQ(run_conditional("v = ?", {ValueView::unset()}), error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("v > ?", {ValueView::null()}),
            error("Invalid comparison with null for operator \">\""));
  EXPECT_EQ(run_conditional("w = ?", {of(empty)}), applied);
  EXPECT_EQ(run_conditional("w = ?", {ValueView::null()}), (Lines{"[applied]|w", "False|"}));
  EXPECT_EQ(run_conditional("w > ?", {of(empty)}), (Lines{"[applied]|w", "False|"}));
  EXPECT_EQ(run_conditional("v > ?", {of(empty)}), applied);
  EXPECT_EQ(run_conditional("v < ?", {of(empty)}), v_is_one);
  const Bytes three_bytes = "123";
  EXPECT_EQ(run_conditional("v = ?", {of(three_bytes)}), error("Expected 4 or 0 byte int (3)"));
  EXPECT_EQ(run_conditional("l = ?", {ValueView::unset()}), error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("l CONTAINS ?", {ValueView::unset()}),
            error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("l CONTAINS ?", {ValueView::null()}),
            error("Invalid comparison with null for operator \"CONTAINS\""));
  EXPECT_EQ(run_conditional("u.a = ?", {ValueView::unset()}), error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("u.b = ?", {ValueView::null()}), applied);
  EXPECT_EQ(run_conditional("fl = ?", {ValueView::unset()}), error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("l[?] = 1", {ValueView::null()}),
            error("Invalid null value for list element access"));
  EXPECT_EQ(run_conditional("m[?] = 1", {ValueView::null()}),
            error("Invalid null value for map element access"));
  EXPECT_EQ(run_conditional("m[?] = 1", {ValueView::unset()}),
            error("Invalid unset value for map element access"));
}

TEST_F(Conditional, EmptyCollectionsAreNullUnlessFrozen) {
  const Bytes none = types::join(*types::list_of(types::scalar(types::Kind::int_), false), {});
  EXPECT_EQ(run_conditional("l = ?", {of(none)}), (Lines{"[applied]|l", "False|[1, 2]"}));
  EXPECT_EQ(run_conditional("l = ?", {of(none)}, 2), applied);
  EXPECT_EQ(run_conditional("l != ?", {of(none)}, 1), applied);
  EXPECT_EQ(run_conditional("l < ?", {of(none)}),
            error("Invalid comparison with an empty list for operator \"<\""));
  EXPECT_EQ(run_conditional("fl > ?", {of(none)}), applied);
  EXPECT_EQ(run_conditional("fl = ?", {of(none)}, 2), (Lines{"[applied]|fl", "False|null"}));
}

TEST_F(Conditional, InTakesAListOrValues) {
  const auto list_type = types::list_of(types::scalar(types::Kind::int_), true);
  const auto list = [&](const types::Elements& elements) { return types::join(*list_type, elements); };
  const Lines v_is_one = {"[applied]|v", "False|1"};
  const Bytes none = list({}), both = list({one, two}), with_null = list({std::nullopt, two});
  EXPECT_EQ(run_conditional("v IN ?", {of(both)}), applied);
  EXPECT_EQ(run_conditional("v IN ?", {of(none)}), v_is_one);
  EXPECT_EQ(run_conditional("v IN ?", {of(with_null)}), v_is_one);
  EXPECT_EQ(print_rows(run("UPDATE t SET w = 'x' WHERE k = 1 AND c = 9 IF v IN ?", {of(with_null)})),
            applied);
  EXPECT_EQ(run_conditional("v IN ?", {ValueView::null()}), error("Invalid null list in IN condition"));
  EXPECT_EQ(run_conditional("v IN ?", {ValueView::unset()}), error("Invalid 'unset' value in condition"));
  EXPECT_EQ(run_conditional("v IN (?, ?)", {ValueView::unset(), of(one)}), applied);
  EXPECT_EQ(run_conditional("v IN (?, ?)", {ValueView::unset(), ValueView::unset()}), v_is_one);
  EXPECT_EQ(run_conditional("v IN (?, ?)", {ValueView::null(), ValueView::unset()}), v_is_one);
  const Bytes key = "a";
  EXPECT_EQ(run_conditional("m[?] IN ?", {of(key), of(both)}), applied);
}

TEST_F(Conditional, MarkersHaveCassandrasNames) {
  const auto prepared = prepare(
      "UPDATE t SET v = ? WHERE k = ? AND c = ? IF v = ? AND l[?] = ? AND m[?] IN ? AND u.a > ? AND u.b IN ? "
      "AND l CONTAINS ? AND m CONTAINS ? AND m CONTAINS KEY ? AND v IN ? AND v IN (?)");
  ASSERT_TRUE(prepared) << prepared.error().text();
  Lines names;
  for (const plan::ColumnSpec& marker : (*prepared)->markers)
    names.push_back(marker.name + " " + marker.type->cql_name());
  EXPECT_EQ(names,
            (Lines{"v int", "k int", "c int", "v int", "idx(l) int", "value(l) int", "key(m) text",
                   "in(value(m)) frozen<list<int>>", "u.a int", "in(u.b) frozen<list<text>>", "value(l) int",
                   "value(m) int", "key(m) text", "in(v) frozen<list<int>>", "v int"}));
  EXPECT_EQ((*prepared)->partition_key_markers, std::vector<uint16_t>{1});
  EXPECT_EQ((*prepared)->result, nullptr);
  EXPECT_TRUE((**prepared).profile.may_block);
  const auto batch = prepare("BEGIN BATCH INSERT INTO t (k, c) VALUES (?, ?) IF NOT EXISTS; APPLY BATCH");
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)->result, nullptr);
  EXPECT_TRUE((**batch).profile.may_block);
}

TEST_F(Conditional, AppliedWritesAreLaterThanExistingData) {
  must("CREATE TABLE n (k int PRIMARY KEY, v int)");
  constexpr int64_t future = start_micros * 3;
  const std::string at = std::to_string(future);
  must("INSERT INTO n (k, v) VALUES (1, 1) USING TIMESTAMP " + at);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 2 WHERE k = 1 IF v = 1"), applied);
  EXPECT_EQ(latest("n"), std::vector<int64_t>{future + 1});
  EXPECT_EQ(run_conditional("UPDATE n SET v = 3 WHERE k = 1 IF v = 2"), applied);
  EXPECT_EQ(latest("n"), std::vector<int64_t>{future + 2});
  must("DELETE FROM n USING TIMESTAMP " + std::to_string(future + 10) + " WHERE k = 1");
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 4) IF NOT EXISTS"), applied);
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 5) IF NOT EXISTS"),
            (Lines{"[applied]|k|v", "False|1|4"}));
  EXPECT_EQ(run_conditional("DELETE v FROM n WHERE k = 1 IF v = 4"), applied);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 6 WHERE k = 1 IF v = null"), applied);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 6 WHERE k = 1 IF v = 0"), (Lines{"[applied]|v", "False|6"}));
}

TEST_F(Conditional, PartitionAndRangeDeletionsAreConsidered) {
  constexpr int64_t future = start_micros * 3;
  must("DELETE FROM t USING TIMESTAMP " + std::to_string(future) + " WHERE k = 2");
  must("DELETE FROM t USING TIMESTAMP " + std::to_string(future + 5) + " WHERE k = 2 AND c > 0 AND c < 5");
  EXPECT_EQ(run_conditional("INSERT INTO t (k, c, v) VALUES (2, 1, 1) IF NOT EXISTS"), applied);
  EXPECT_EQ(run_conditional("UPDATE t SET v = 2 WHERE k = 2 AND c = 1 IF v = 0"),
            (Lines{"[applied]|v", "False|1"}));
  EXPECT_EQ(run_conditional("UPDATE t SET s = 2 WHERE k = 2 IF s = null"), applied);
  EXPECT_EQ(run_conditional("UPDATE t SET s = 2 WHERE k = 2 IF s = 0"), (Lines{"[applied]|s", "False|2"}));
}

constexpr const char* last_timestamp = "9223372036854775807";

// If a row has the largest timestamp that exists, no write can have a later one, so it would not become
// visible.
TEST_F(Conditional, RefusesWritesHiddenByTheLastTimestamp) {
  const Lines refused = error(std::string("Cannot apply the conditional update: it would replace data that "
                                          "has the largest possible timestamp, ") +
                              last_timestamp);
  const std::string last = std::string(" USING TIMESTAMP ") + last_timestamp;
  must("CREATE TABLE n (k int PRIMARY KEY, v int, l list<int>)");
  must("INSERT INTO n (k, v) VALUES (1, 1)" + last);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 2 WHERE k = 1 IF v = 1"), refused);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 2 WHERE k = 1 IF v = 2"), (Lines{"[applied]|v", "False|1"}));
  EXPECT_EQ(run_conditional("DELETE FROM n WHERE k = 1 IF EXISTS"), refused);
  EXPECT_EQ(run_conditional("DELETE v FROM n WHERE k = 1 IF v = 1"), refused);
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 3) IF NOT EXISTS"),
            (Lines{"[applied]|k|l|v", "False|1|null|1"}));
  EXPECT_EQ(run_conditional("BEGIN BATCH UPDATE n SET l = [1] WHERE k = 1 IF v = 1; APPLY BATCH"), refused);
  must("DELETE FROM n" + last + " WHERE k = 2");
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (2, 1) IF NOT EXISTS"), refused);
  must("UPDATE n USING TIMESTAMP 9223372036854775806 SET v = 1 WHERE k = 3");
  EXPECT_EQ(run_conditional("UPDATE n SET v = 2 WHERE k = 3 IF v = 1"), applied);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 3 WHERE k = 3 IF v = 0"), (Lines{"[applied]|v", "False|2"}));
  EXPECT_EQ(run_conditional("UPDATE n SET v = 3 WHERE k = 3 IF v = 2"), refused);
}

TEST_F(Conditional, RefusesRowsUnderDeletionsOfTheLastTimestamp) {
  const std::string last = std::string(" USING TIMESTAMP ") + last_timestamp;
  must("DELETE FROM t" + last + " WHERE k = 5 AND c > 0 AND c < 5");
  EXPECT_FALSE(run("INSERT INTO t (k, c, v) VALUES (5, 1, 1) IF NOT EXISTS"));
  EXPECT_EQ(run_conditional("INSERT INTO t (k, c, v) VALUES (5, 6, 1) IF NOT EXISTS"), applied);
  EXPECT_FALSE(
      run("BEGIN BATCH INSERT INTO t (k, c) VALUES (5, 7) IF NOT EXISTS; INSERT INTO t (k, c) VALUES (5, "
          "2); APPLY BATCH"));
  must("DELETE FROM t" + last + " WHERE k = 6");
  EXPECT_FALSE(run("INSERT INTO t (k, c, v) VALUES (6, 1, 1) IF NOT EXISTS"));
  EXPECT_FALSE(run("UPDATE t SET s = 1 WHERE k = 6 IF s = null"));
}

TEST_F(Conditional, TheLastTimestampOfOtherColumnsIsIgnored) {
  must(std::string("UPDATE t USING TIMESTAMP ") + last_timestamp + " SET s = 1 WHERE k = 7");
  EXPECT_EQ(run_conditional("INSERT INTO t (k, c, v) VALUES (7, 1, 1) IF NOT EXISTS"), applied);
  EXPECT_EQ(run_conditional("UPDATE t SET v = 2 WHERE k = 7 AND c = 1 IF s = 1"), applied);
  EXPECT_EQ(run_conditional("UPDATE t SET v = 3 WHERE k = 7 AND c = 1 IF v = 0"),
            (Lines{"[applied]|v", "False|2"}));
  EXPECT_FALSE(run("UPDATE t SET s = 2 WHERE k = 7 IF s = 1"));
}

TEST_F(Conditional, DeletedRangesOfABatchAreLaterThanTheirRows) {
  constexpr int64_t future = start_micros * 3;
  must("INSERT INTO t (k, c, v) VALUES (8, 3, 3) USING TIMESTAMP " + std::to_string(future));
  const std::string insert = "INSERT INTO t (k, c, v) VALUES (8, 1, 1) IF NOT EXISTS; ";
  EXPECT_EQ(run_conditional("BEGIN BATCH " + insert + "DELETE FROM t WHERE k = 8 AND c > 2; APPLY BATCH"),
            applied);
  EXPECT_EQ(run_conditional("DELETE FROM t WHERE k = 8 AND c = 3 IF EXISTS"), nothing_there);
  must("INSERT INTO t (k, c, v) VALUES (9, 3, 3) USING TIMESTAMP " + std::to_string(future));
  EXPECT_EQ(
      run_conditional(
          "BEGIN BATCH INSERT INTO t (k, c, v) VALUES (9, 1, 1) IF NOT EXISTS; DELETE FROM t WHERE k = 9; "
          "APPLY BATCH"),
      applied);
  EXPECT_EQ(run_conditional("DELETE FROM t WHERE k = 9 AND c = 3 IF EXISTS"), nothing_there);
  must(std::string("INSERT INTO t (k, c, v) VALUES (8, 4, 3) USING TIMESTAMP ") + last_timestamp);
  EXPECT_FALSE(
      run("BEGIN BATCH UPDATE t SET v = 2 WHERE k = 8 AND c = 1 IF v = 1; DELETE FROM t WHERE k = 8 AND c "
          "> 2; APPLY BATCH"));
}

TEST_F(Conditional, ClocksMayGoBackwards) {
  must("CREATE TABLE n (k int PRIMARY KEY, v int)");
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 1) IF NOT EXISTS"), applied);
  const int64_t before = latest("n")[0];
  // Simulates a restart: the source of timestamps starts again.
  base::ManualClock earlier(start_micros - 3'600'000'000);
  TimestampSource fresh(earlier);
  Environment environment = this->environment();
  Environment later{environment.store, environment.system_store, earlier, fresh, locks};
  const auto update = prepare("UPDATE n SET v = 2 WHERE k = 1 IF v = 1");
  ASSERT_TRUE(update);
  base::Result<ResultSet> answer = base::invalid("never answered");
  modify(**update, {}, later, [&](base::Result<ResultSet> result) { answer = std::move(result); });
  EXPECT_EQ(print_rows(answer), applied);
  EXPECT_EQ(latest("n")[0], before + 1);
}

TEST_F(Conditional, TheClientsTimestampIsIgnored) {
  must("CREATE TABLE n (k int PRIMARY KEY, v int)");
  Request request;
  request.timestamp_micros = 500;
  EXPECT_EQ(print_rows(run("INSERT INTO n (k, v) VALUES (1, 1) IF NOT EXISTS", {}, request)), applied);
  EXPECT_GE(latest("n")[0], start_micros);
}

TEST_F(Conditional, ConsistencyLevels) {
  Request request;
  request.serial_consistency = Consistency::quorum;
  const std::string insert = "INSERT INTO t (k, c) VALUES (9, 9) IF NOT EXISTS";
  const std::string serial_only =
      "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL";
  EXPECT_EQ(print_rows(run(insert, {}, request)), error(serial_only));
  EXPECT_EQ(print_rows(run("BEGIN BATCH " + insert + "; APPLY BATCH", {}, request)), error(serial_only));
  request.serial_consistency = Consistency::local_serial;
  request.consistency = Consistency::local_serial;
  EXPECT_EQ(
      print_rows(run(insert, {}, request)),
      error("LOCAL_SERIAL is not supported as conditional update commit consistency. Use ANY if you mean "
            "\"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL "
            "reads\""));
  EXPECT_EQ(print_rows(run("INSERT INTO t (k, c) VALUES (9, 9)", {}, request)),
            error("You must use conditional updates for serializable writes"));
  request.consistency = Consistency::any;
  EXPECT_EQ(print_rows(run(insert, {}, request)), applied);
  must("CREATE TABLE cn (k int PRIMARY KEY, n counter)");
  EXPECT_EQ(print_rows(run("UPDATE cn SET n = n + 1 WHERE k = 1", {}, request)),
            error("Consistency level ANY is not yet supported for counter table cn"));
  request.consistency = Consistency::serial;
  EXPECT_EQ(print_rows(run("UPDATE cn SET n = n + 1 WHERE k = 1", {}, request)),
            error("Counter operations are inherently non-serializable"));
}

TEST_F(Conditional, RefusalsAndErrorsWriteNothingAndReleaseTheLock) {
  const auto count = records("t").size();
  EXPECT_EQ(run_conditional("UPDATE t SET v = 9 WHERE k = 1 AND c = 8 IF EXISTS"), nothing_there);
  EXPECT_EQ(run_conditional("UPDATE t SET v = 9 WHERE k = 1 AND c = 1 IF v < null"),
            error("Invalid comparison with null for operator \"<\""));
  EXPECT_EQ(run_conditional("UPDATE t SET l[9] = 9 WHERE k = 1 AND c = 1 IF v = 1"),
            error("List index 9 out of bound, list has size 2"));
  EXPECT_EQ(
      run_conditional(
          "BEGIN BATCH UPDATE t SET v = 9 WHERE k = 1 AND c = 8 IF v = 1; UPDATE t SET v = 9 WHERE k = 1 "
          "AND c = 7; APPLY BATCH"),
      nothing_there);
  EXPECT_EQ(records("t").size(), count);
  // If the lock had not been released, the next statement would wait forever.
  EXPECT_EQ(run_conditional("v = ?", {of(one)}), applied);
}

TEST_F(Conditional, TheProtocolsBatch) {
  const auto update = prepare("UPDATE t SET v = ? WHERE k = 1 AND c = 1 IF v = ?");
  const auto insert = prepare("INSERT INTO t (k, c, v) VALUES (?, 3, 3)");
  const auto other = prepare("INSERT INTO system_other (k) VALUES (1)");
  EXPECT_FALSE(other);
  ASSERT_TRUE(update && insert);
  Environment environment = this->environment();
  const auto run_batch = [&](std::vector<ValueView> first, std::vector<ValueView> second) {
    const std::vector<BatchItem> items = {{*update, first}, {*insert, second}};
    base::Result<ResultSet> answer = base::invalid("never answered");
    batch(cql::Batch::Kind::unlogged, items, {}, environment, nullptr,
          [&](base::Result<ResultSet> result) { answer = std::move(result); });
    return print_rows(answer);
  };
  EXPECT_EQ(run_batch({of(two), of(two)}, {of(one)}), (Lines{"[applied]|k|c|v", "False|1|1|1"}));
  EXPECT_EQ(run_batch({of(two), of(one)}, {of(two)}),
            error("Batch with conditions cannot span multiple partitions"));
  EXPECT_EQ(run_batch({of(two), of(one)}, {of(one)}), applied);
  EXPECT_EQ(run_conditional("UPDATE t SET v = 0 WHERE k = 1 AND c = 3 IF v = 0"),
            (Lines{"[applied]|v", "False|3"}));
  EXPECT_EQ(run_conditional("UPDATE t SET v = 0 WHERE k = 1 AND c = 1 IF v = 0"),
            (Lines{"[applied]|v", "False|2"}));
}

TEST_F(Conditional, AdditionsUnderConditionsAreExact) {
  must("CREATE TABLE n (k int PRIMARY KEY, v int)");
  must("INSERT INTO n (k, v) VALUES (1, 0)");
  const auto add = prepare("UPDATE n SET v = v + 1 WHERE k = 1 IF EXISTS");
  ASSERT_TRUE(add);
  constexpr int threads = 4, times = 100;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int n = 0; n < times; ++n) EXPECT_EQ(print_rows(run(**add)), applied);
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(run_conditional("UPDATE n SET v = 0 WHERE k = 1 IF v = -1"), (Lines{"[applied]|v", "False|400"}));
  EXPECT_EQ(print_rows(run("UPDATE n SET v = v + ? WHERE k = 1 IF EXISTS", {ValueView::unset()})), applied);
  EXPECT_EQ(print_rows(run("UPDATE n SET v = v + ? WHERE k = 1 IF EXISTS", {ValueView::null()})),
            error("Invalid null value to add to column v"));
  EXPECT_EQ(run_conditional("UPDATE n SET v = 0 WHERE k = 1 IF v = -1"), (Lines{"[applied]|v", "False|400"}));
}

TEST_F(Conditional, IndexesAreMaintainedInTheSameWrite) {
  must("CREATE TABLE x (k int PRIMARY KEY, v int)");
  must("CREATE INDEX ON x (v)");
  const uint32_t index = schema->find_table("e", "x")->indexes.at(0).storage_id;
  const auto entries = [&] {
    std::vector<Bytes> keys;
    const auto iterator = store->iterate(row::table_begin(index), row::table_end(index));
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) keys.emplace_back(iterator->key());
    return keys;
  };
  EXPECT_EQ(run_conditional("INSERT INTO x (k, v) VALUES (1, 1) IF NOT EXISTS"), applied);
  const std::vector<Bytes> first = entries();
  EXPECT_EQ(first.size(), 1u);
  EXPECT_EQ(run_conditional("UPDATE x SET v = 2 WHERE k = 1 IF v = 3"), (Lines{"[applied]|v", "False|1"}));
  EXPECT_EQ(entries(), first);
  EXPECT_EQ(run_conditional("BEGIN BATCH UPDATE x SET v = 2 WHERE k = 1 IF v = 1; APPLY BATCH"), applied);
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_NE(entries(), first);
  EXPECT_EQ(run_conditional("UPDATE x SET v = 1 WHERE k = 1 IF v = 2"), applied);
  EXPECT_EQ(entries(), first);
  EXPECT_EQ(run_conditional("DELETE FROM x WHERE k = 1 IF EXISTS"), applied);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Conditional, ExpiredDataDoesNotExist) {
  must("CREATE TABLE n (k int PRIMARY KEY, v int)");
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 1) IF NOT EXISTS USING TTL 10"), applied);
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 2) IF NOT EXISTS USING TTL 10"),
            (Lines{"[applied]|k|v", "False|1|1"}));
  clock.set_micros(start_micros + 11'000'000);
  EXPECT_EQ(run_conditional("UPDATE n SET v = 3 WHERE k = 1 IF EXISTS"), nothing_there);
  EXPECT_EQ(run_conditional("INSERT INTO n (k, v) VALUES (1, 2) IF NOT EXISTS USING TTL 10"), applied);
}

}  // namespace
}  // namespace sibyl::execute
