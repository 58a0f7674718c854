#include <gtest/gtest.h>

#include "execute/write/modify_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;
using Lines = std::vector<std::string>;

constexpr int64_t collection_now = WriteFixture::start_seconds;

TEST(Modify, SetsAndMapsHaveOneCellPerElement) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, m map<text, int>, s set<int>)");  // column ids: m 2, s 3
  const std::string local = " local " + std::to_string(collection_now);
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
  EXPECT_EQ(database.lines("t"), Lines{"row: column 3 deletion at 5" + local});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET s = null, m = {} WHERE k = 1");
  EXPECT_EQ(database.lines("t"),
            Lines{"row: column 2 deletion at 4" + local + "; column 3 deletion at 4" + local});
}

// The values of a list column in order, as a reader sees them.
std::vector<int32_t> list_of(const WriteFixture& database, const std::string& table,
                             const std::string& column) {
  std::vector<int32_t> values;
  for (const auto& record : database.records(table)) {
    row::Fragment fragment = record->fragment;
    row::visible_at(fragment, {}, collection_now);
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
  database.must("CREATE TABLE t (k int PRIMARY KEY, f frozen<u>, v u)");  // column ids: f 2, v 3
  const std::string local = " local " + std::to_string(collection_now);
  database.must("UPDATE t USING TIMESTAMP 5 SET v = {a: 1} WHERE k = 1");
  EXPECT_EQ(database.lines("t"),
            Lines{"row: column 3 deletion at 4" + local + "; cell 3 live at 5 path 0000 value 00000001"});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET v.b = 'x', v.a = null WHERE k = 1");
  EXPECT_EQ(database.lines("t"),
            Lines{"row: cell 3 tombstone at 5 path 0000" + local + "; cell 3 live at 5 path 0001 value 78"});
  database.must("TRUNCATE t");
  database.must("DELETE v.b FROM t USING TIMESTAMP 5 WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 3 tombstone at 5 path 0001" + local});
  database.must("TRUNCATE t");
  database.must("UPDATE t USING TIMESTAMP 5 SET f = {a: 1, b: 'x'} WHERE k = 1");
  EXPECT_EQ(database.lines("t"), Lines{"row: cell 2 live at 5 value 00000004000000010000000178"});
}

TEST(Modify, LossyElementsAndKeysKeepTheirBytes) {
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
  EXPECT_EQ(database.lines("t"), Lines{"row: marker at 4; cell 6 live at 4 value 0000000000000003"});
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

}  // namespace
}  // namespace sibyl::execute
