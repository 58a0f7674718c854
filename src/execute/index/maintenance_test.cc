#include "execute/index/maintenance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <thread>

#include "execute/index/build.h"
#include "execute/index/check.h"
#include "execute/read/reader.h"
#include "execute/read/select.h"
#include "execute/write/modify.h"
#include "execute/write/modify_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

// Formats the rows of a result with one text column.
std::multiset<std::string> texts_of(const ResultSet& result) {
  std::multiset<std::string> texts;
  base::Reader reader(result.rows.bytes());
  for (size_t i = 0; i < result.rows.count(); ++i) {
    uint32_t size = 0;
    BytesView value;
    EXPECT_TRUE(reader.big_endian(size) && reader.take(size, value));
    texts.emplace(value);
  }
  return texts;
}

class ViewFixture : public WriteFixture {
 public:
  ViewFixture() {
    must(
        "CREATE TABLE t (p int, c int, d int, s int STATIC, v int, w int, m map<int, int>, "
        "PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)");
    const std::string where = "WHERE p IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL";
    must("CREATE MATERIALIZED VIEW by_v AS SELECT p, c, d, v, w, m FROM t " + where +
         " AND v IS NOT NULL PRIMARY KEY (v, d, c, p)");
    must("CREATE MATERIALIZED VIEW by_c AS SELECT p, c, d, w FROM t " + where + " PRIMARY KEY (c, p, d)");
    must(
        "CREATE MATERIALIZED VIEW few AS SELECT p, c, d, v FROM t WHERE p > 0 AND c IN (1, 2) AND d IS NOT "
        "NULL PRIMARY KEY ((d, c), p)");
    mark_built();
  }

  // There were no rows before the views were created.
  void mark_built() {
    auto next = std::make_shared<schema::Snapshot>(*schema);
    auto changed = std::make_shared<schema::Keyspace>(*schema->find_keyspace("e"));
    const auto views = changed->views;
    for (const auto& [name, view] : views) {
      auto built = std::make_shared<schema::Table>(*view);
      auto definition = std::make_shared<schema::ViewDefinition>(*view->view);
      definition->is_built = true;
      built->view = definition;
      changed->put_view(std::move(built));
    }
    next->keyspaces.insert_or_assign("e", std::move(changed));
    schema = std::move(next);
  }

  std::multiset<std::string> select_texts(const std::string& text) {
    auto prepared = prepare(text);
    EXPECT_TRUE(prepared) << text << ": " << prepared.error().text();
    Environment now = environment();
    auto result = select(**prepared, {}, now);
    EXPECT_TRUE(result) << text << ": " << result.error().text();
    return texts_of(*result);
  }

  std::vector<std::string> faults() {
    auto found = check_index_maintenance(*schema, *store, clock.now_seconds());
    EXPECT_TRUE(found) << found.error().text();
    return *found;
  }
};

// JSON of the rows whose `v` is not null.
std::multiset<std::string> with_v(const std::multiset<std::string>& rows) {
  std::multiset<std::string> kept;
  for (const std::string& row : rows)
    if (row.find("\"v\": null") == std::string::npos) kept.insert(row);
  return kept;
}

// Describes the differences between the views and their base table; empty if there are none.
std::string difference(ViewFixture& database) {
  std::string text = fmt::format("{}", fmt::join(database.faults(), "\n"));
  const std::string columns = "SELECT JSON p, c, d, v, w, m, writetime(w), ttl(w) FROM ";
  if (database.select_texts(columns + "by_v") != with_v(database.select_texts(columns + "t")))
    text += "\nby_v shows other rows";
  const std::string keys = "SELECT JSON p, c, d, w FROM ";
  std::multiset<std::string> rows;
  // Partitions that have only static columns have no row.
  for (const std::string& row : database.select_texts(keys + "t"))
    if (row.find("\"c\": null") == std::string::npos) rows.insert(row);
  if (database.select_texts(keys + "by_c") != rows) text += "\nby_c shows other rows";
  return text;
}

int pick(int first, int last) {
  return *rc::gen::inRange(first, last + 1);
}

std::string using_clause(bool with_ttl) {
  std::string clause = fmt::format(" USING TIMESTAMP {}", pick(1, 12));
  if (with_ttl && pick(0, 2) == 0) clause += fmt::format(" AND TTL {}", pick(1, 40));
  return clause;
}

std::string value(int last) {
  const int chosen = pick(-1, last);
  return chosen < 0 ? "null" : std::to_string(chosen);
}

std::string row_key() {
  return fmt::format("p = {} AND c = {} AND d = {}", pick(0, 2), pick(1, 3), pick(1, 2));
}

std::string random_write() {
  switch (pick(0, 9)) {
    case 0:
    case 1:
      return fmt::format("INSERT INTO t (p, c, d, v, w) VALUES ({}, {}, {}, {}, {})", pick(0, 2), pick(1, 3),
                         pick(1, 2), value(2), value(3)) +
             using_clause(true);
    case 2:
    case 3:
      return fmt::format("UPDATE t{} SET v = {} WHERE {}", using_clause(true), value(2), row_key());
    case 4:
      return fmt::format("UPDATE t{} SET w = {}, m[{}] = {} WHERE {}", using_clause(true), value(3),
                         pick(1, 2), pick(1, 5), row_key());
    case 5:
      return fmt::format("DELETE {} FROM t{} WHERE {}", pick(0, 1) ? "v" : "w, m", using_clause(false),
                         row_key());
    case 6:
      return fmt::format("DELETE FROM t{} WHERE {}", using_clause(false), row_key());
    case 7:
      return fmt::format("DELETE FROM t{} WHERE p = {} AND c {} {}", using_clause(false), pick(0, 2),
                         pick(0, 1) ? ">=" : "=", pick(1, 3));
    case 8:
      return fmt::format("DELETE FROM t{} WHERE p = {}", using_clause(false), pick(0, 2));
    default:
      return fmt::format("UPDATE t{} SET s = {} WHERE p = {}", using_clause(true), value(3), pick(0, 2));
  }
}

RC_GTEST_PROP(Views, ShowWhatTheBaseShowsWhateverTheOrderOfWrites, ()) {
  ViewFixture database;
  const int writes = pick(1, 25);
  for (int i = 0; i < writes; ++i) {
    std::string statement = random_write();
    if (pick(0, 3) == 0) {
      statement = "BEGIN BATCH " + statement + "; ";
      for (int more = pick(1, 4); more > 0; --more) statement += random_write() + "; ";
      statement += "APPLY BATCH";
    }
    RC_LOG() << statement << ";\n";
    auto result = database.run(statement);
    if (!result) RC_FAIL(statement + ": " + result.error().text());
    if (pick(0, 3) == 0) database.clock.advance_seconds(pick(0, 30));
    if (const std::string found = difference(database); !found.empty()) RC_FAIL(found);
  }
}

TEST(Views, AViewRowExpiresWithItsKeyCell) {
  ViewFixture database;
  database.must("INSERT INTO t (p, c, d, v, w) VALUES (1, 1, 1, 5, 6)");
  database.must("UPDATE t USING TTL 10 SET v = 7 WHERE p = 1 AND c = 1 AND d = 1");
  EXPECT_EQ(database.select_texts("SELECT JSON v, w FROM by_v"),
            std::multiset<std::string>{"{\"v\": 7, \"w\": 6}"});
  database.clock.advance_seconds(10);
  EXPECT_TRUE(database.select_texts("SELECT JSON v, w FROM by_v").empty());
  EXPECT_EQ(database.select_texts("SELECT JSON w FROM by_c"), std::multiset<std::string>{"{\"w\": 6}"});
  EXPECT_EQ(difference(database), "");
}

TEST(Views, ARequestsOwnTimeDoesNotAffectOthers) {
  ViewFixture database;
  database.must("INSERT INTO t (p, c, d, v) VALUES (1, 1, 1, 5) USING TTL 100");
  Request late;
  late.now_seconds = static_cast<int32_t>(database.clock.now_seconds() + 1000);
  ASSERT_TRUE(database.run("UPDATE t SET w = 1 WHERE p = 1 AND c = 1 AND d = 1", {}, late));
  EXPECT_EQ(difference(database), "");
  EXPECT_EQ(database.select_texts("SELECT JSON v, w FROM by_v"),
            std::multiset<std::string>{"{\"v\": 5, \"w\": 1}"});
}

TEST(Views, TruncateEmptiesThem) {
  ViewFixture database;
  database.must("INSERT INTO t (p, c, d, v) VALUES (1, 1, 1, 5)");
  database.must("TRUNCATE t");
  EXPECT_TRUE(database.records("by_v").empty());
  EXPECT_TRUE(database.records("by_c").empty());
  EXPECT_EQ(difference(database), "");
}

TEST(Views, TheCheckerDetectsDifferences) {
  ViewFixture database;
  database.must("INSERT INTO t (p, c, d, v) VALUES (1, 1, 1, 5)");
  database.must("INSERT INTO t (p, c, d, v) VALUES (1, 1, 2, 5)");
  EXPECT_TRUE(database.faults().empty());
  const schema::TablePtr view = database.schema->find_table("e", "by_v");
  auto records =
      database.store->iterate(row::table_begin(view->storage_id), row::table_end(view->storage_id));
  records->seek_to_first();
  ASSERT_TRUE(records->valid());
  storage::WriteSet writes;
  Bytes key(records->key());
  Bytes value(records->value());
  writes.erase(key);
  key.back() = static_cast<char>(key.back() ^ 1);
  writes.put(key, value);
  ASSERT_TRUE(database.store->commit(std::move(writes)));
  EXPECT_EQ(database.faults().size(), 2u);
}

// Deleting many rows changes many index entries and view rows, all in one write.
TEST(Views, MaintenancePerWriteIsBounded) {
  ViewFixture database;
  for (int c = 0; c < 100; ++c)
    database.must(fmt::format("INSERT INTO t (p, c, d, v) VALUES (1, {}, 1, 1)", c));
  const schema::TablePtr table = database.schema->find_table("e", "t");
  row::Fragment deletion;
  deletion.deletion = {WriteFixture::start_micros * 2, WriteFixture::start_seconds};
  Bytes bytes;
  row::encode(deletion, bytes);
  const auto size_of = [&](size_t max_bytes) -> std::optional<size_t> {
    storage::WriteSet writes;
    writes.merge(row::partition_record_key(row::partition_prefix(table->storage_id, types::encode_int32(1))),
                 bytes);
    const schema::Table* const changed = table.get();
    const base::Status status =
        add_index_maintenance({&changed, 1}, *database.store, writes, nullptr, nullptr, max_bytes);
    if (status) return writes.operations().size();
    EXPECT_EQ(status.error().message(),
              "This changes too much in the indexes and views of e.t for one write");
    return std::nullopt;
  };
  // The deletion, 100 entries each of by_v and by_c, and the rows c = 1 and c = 2 of few.
  EXPECT_EQ(size_of(max_index_maintenance_bytes), 1 + 200 + 2);
  EXPECT_EQ(size_of(10'000), std::nullopt);
}

TEST(BuildStep, IsBoundedInBytes) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, v blob, PRIMARY KEY (k, c))");
  const Bytes large(BuildStep::max_bytes / 4, 'x');
  const auto insert = [&](int k, int c) {
    database.must(fmt::format("INSERT INTO t (k, c, v) VALUES ({}, {}, ?)", k, c),
                  {types::ValueView::of(large)});
  };
  for (int i = 0; i < 12; ++i) insert(1, i);
  for (int i = 2; i < 14; ++i) insert(i, 1);
  const schema::TablePtr table = database.schema->find_table("e", "t");
  Bytes position;
  size_t rows = 0;
  do {
    const auto step = next_build_step(*table, *database.store, position);
    ASSERT_TRUE(step) << step.error().text();
    ReadPlan plan;
    plan.table = table.get();
    for (const Bytes& prefix : step->partitions)
      ASSERT_TRUE(row::decode_partition_key(prefix, plan.keys.emplace_back()));
    plan.intervals.push_back({step->from, step->to});
    const auto reader = open_reader(*database.store, plan);
    ASSERT_TRUE(reader);
    const size_t before = rows;
    while (*(*reader)->next_partition())
      while (*(*reader)->next_row()) ++rows;
    EXPECT_LE(rows - before, 5u);
    position = step->next;
  } while (!position.empty());
  EXPECT_EQ(rows, 24u);
}

TEST(Views, ConcurrentWritersKeepViewsConsistent) {
  ViewFixture database;
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&database, id] {
      Environment environment = database.environment();
      for (int i = 0; i < 300; ++i) {
        const int n = i * 7 + id;
        const std::string text = i % 11 == 10
                                     ? fmt::format("DELETE FROM t WHERE p = 1 AND c >= {}", 1 + n % 3)
                                     : fmt::format("INSERT INTO t (p, c, d, v, w) VALUES (1, {}, {}, {}, {})",
                                                   1 + n % 3, 1 + n % 2, n % 5, n);
        auto prepared = database.prepare(text);
        ASSERT_TRUE(prepared);
        modify(**prepared, {}, environment, [](base::Result<ResultSet> result) { EXPECT_TRUE(result); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(difference(database), "");
}

}  // namespace
}  // namespace sibyl::execute
