// Statistics of tables and query shapes, as shown in system_views.
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/test_directory.h"
#include "engine/catalogue/open_store.h"
#include "engine/statistics/usage.h"
#include "engine/statistics/usage_store.h"
#include "engine/test_database.h"
#include "execute/write/batch.h"
#include "row/record_key.h"
#include "storage/memory/memory_store.h"
#include "types/print.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UsageTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    open();
    must("CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))");
  }
  bool in_memory() const { return GetParam(); }
  void open() {
    database_.reset();
    database_.emplace(in_memory() ? ":memory:" : directory_.path() + "/data");
  }
  void must(const std::string& text) { database_->must(text); }

  // Returns rows as texts of literals.
  std::vector<std::string> rows(const std::string& query) {
    const auto result = database_->run(query);
    EXPECT_TRUE(result) << query << ": " << result.error().text();
    return result ? lines_of(*result, " ", as_literal) : std::vector<std::string>();
  }
  std::string row(const std::string& query) {
    const std::vector<std::string> found = rows(query);
    EXPECT_EQ(found.size(), 1u) << query;
    return found.empty() ? "" : found.front();
  }
  // Returns calls, partitions, rows read, rows returned, tombstones, and the maximum number of partitions.
  std::string counts(const std::string& query) {
    for (const std::string& one : rows("SELECT query, calls, partitions_read, rows_read, rows_returned, "
                                       "tombstones_read, partitions_max "
                                       "FROM system_views.query_shapes WHERE keyspace_name = 'e'"))
      if (one.starts_with("'" + query + "' ")) return one.substr(query.size() + 3);
    return "none";
  }
  void insert(int partition, int rows) {
    for (int i = 0; i < rows; ++i)
      must("INSERT INTO t (p, c, v) VALUES (" + std::to_string(partition) + ", " + std::to_string(i) +
           ", 'some text')");
  }

  const base::TemporaryDirectory directory_;
  std::optional<TestDatabase> database_;
};

INSTANTIATE_TEST_SUITE_P(Stores, UsageTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "memory" : "rocksdb"; });

TEST_P(UsageTest, queries_are_counted_by_their_shape) {
  insert(1, 10);
  insert(2, 5);
  EXPECT_EQ(counts("INSERT INTO e.t (p, c, v) VALUES (?, ?, ?)"), "15 0 0 0 0 1");
  must("SELECT * FROM t WHERE p = 1");
  must("SELECT * FROM e.t WHERE p = 2");
  must("SELECT * FROM t WHERE p = 3");
  EXPECT_EQ(counts("SELECT * FROM e.t WHERE p = ?"), "3 3 15 15 0 1");
  must("SELECT v FROM t WHERE p IN (1, 2, 7) AND c = 3");
  must("SELECT v FROM t WHERE p IN (1) AND c = 4");
  EXPECT_EQ(counts("SELECT v FROM e.t WHERE p IN ? AND c = ?"), "2 4 3 3 0 3");
  must("SELECT p FROM t");
  EXPECT_EQ(counts("SELECT p FROM e.t"), "1 2 15 15 0 2");
  must("SELECT p FROM t WHERE c > 7 ALLOW FILTERING");
  EXPECT_EQ(counts("SELECT p FROM e.t WHERE c > ? ALLOW FILTERING"), "1 2 2 2 0 2");
  must("SELECT p FROM t WHERE v = 'x' ALLOW FILTERING");
  EXPECT_EQ(counts("SELECT p FROM e.t WHERE v = ? ALLOW FILTERING"), "1 2 15 0 0 2");
  must("SELECT count(*) FROM t WHERE p = 1");
  EXPECT_EQ(counts("SELECT count(*) FROM e.t WHERE p = ?"), "1 1 10 1 0 1");
  must("SELECT c FROM t WHERE p = 1 LIMIT 3");
  EXPECT_EQ(counts("SELECT c FROM e.t WHERE p = ? LIMIT ?"), "1 1 3 3 0 1");
}

TEST_P(UsageTest, tombstones_and_writes_that_read_first_are_counted) {
  insert(1, 10);
  must("DELETE FROM t WHERE p = 1 AND c = 2");
  must("DELETE v FROM t WHERE p = 1 AND c = 3");
  must("SELECT * FROM t WHERE p = 1");
  EXPECT_EQ(counts("SELECT * FROM e.t WHERE p = ?"), "1 1 9 9 2 1");
  must("UPDATE t SET v = 'x' WHERE p = 1 AND c = 4 IF v = 'some text'");
  must("UPDATE t SET v = 'x' WHERE p = 1 AND c = 4 IF v = 'some text'");
  EXPECT_EQ(counts("UPDATE e.t SET v = ? WHERE p = ? AND c = ? IF v = ?"), "2 2 2 2 0 1");
  EXPECT_EQ(row("SELECT reads, writes, tombstones_per_read_p50, tombstones_per_read_max FROM "
                "system_views.table_statistics WHERE keyspace_name = 'e' AND table_name = 't'"),
            "1 14 2.0 2");
}

TEST_P(UsageTest, batches_count_as_one_call_and_as_writes_of_their_tables) {
  must("CREATE TABLE u (p int PRIMARY KEY, v int)");
  must(
      "BEGIN BATCH INSERT INTO t (p, c) VALUES (1, 1); INSERT INTO t (p, c) VALUES (2, 1); "
      "INSERT INTO u (p, v) VALUES (1, 1); APPLY BATCH");
  EXPECT_EQ(counts("BEGIN BATCH INSERT INTO e.t (p, c) VALUES (?, ?); INSERT INTO e.u (p, v) VALUES (?, ?); "
                   "APPLY BATCH"),
            "1 0 0 0 0 3");
  EXPECT_THAT(rows("SELECT table_name, writes FROM system_views.table_statistics WHERE keyspace_name = 'e'"),
              ElementsAre("'t' 2", "'u' 1"));
  // The statements as drivers send them.
  std::vector<execute::BatchItem> items;
  for (const char* text : {"INSERT INTO t (p, c) VALUES (5, 1)", "INSERT INTO t (p, c) VALUES (6, 1)",
                           "INSERT INTO u (p, v) VALUES (5, 1)"})
    items.push_back({*database_->engine->planner().plan_query(text, "e"), {}});
  std::promise<bool> answer;
  database_->engine->executor().execute_batch(cql::Batch::Kind::logged, items, {},
                                              [&](auto result) { answer.set_value(result.has_value()); });
  ASSERT_TRUE(answer.get_future().get());
  EXPECT_EQ(counts("BEGIN BATCH INSERT INTO e.t (p, c) VALUES (?, ?); INSERT INTO e.u (p, v) VALUES (?, ?); "
                   "APPLY BATCH"),
            "2 0 0 0 0 3");
  EXPECT_THAT(rows("SELECT kind, table_name FROM system_views.query_shapes WHERE keyspace_name = 'e'"),
              ElementsAre("'batch' 't, u'"));
}

TEST_P(UsageTest, the_order_of_a_batch_does_not_matter) {
  must("CREATE TABLE a (p int PRIMARY KEY, v int)");
  const std::vector<std::string> statements = {"INSERT INTO t (p, c) VALUES (1, 1)",
                                               "INSERT INTO a (p, v) VALUES (1, 1)",
                                               "INSERT INTO a (p, v) VALUES (1, 1) USING TTL 5"};
  for (const auto& [first, second] : {std::pair(0, 1), std::pair(1, 0), std::pair(1, 2), std::pair(2, 1)}) {
    must("BEGIN BATCH " + statements[first] + "; " + statements[second] + "; APPLY BATCH");
    std::vector<execute::BatchItem> items;
    for (const int one : {first, second})
      items.push_back({*database_->engine->planner().plan_query(statements[one], "e"), {}});
    std::promise<bool> answer;
    database_->engine->executor().execute_batch(cql::Batch::Kind::logged, items, {},
                                                [&](auto result) { answer.set_value(result.has_value()); });
    ASSERT_TRUE(answer.get_future().get());
  }
  EXPECT_THAT(rows("SELECT table_name, calls FROM system_views.query_shapes WHERE keyspace_name = 'e'"),
              testing::UnorderedElementsAre("'t, a' 4", "'a' 4"));
}

TEST_P(UsageTest, a_batch_on_a_recreated_table_has_its_own_shape) {
  base::SystemClock clock;
  Usage usage(clock);  // has not been told of the drop
  const auto shape = [&] {
    const std::vector<execute::BatchItem> items = {
        {*database_->engine->planner().plan_query("INSERT INTO t (p, c) VALUES (1, 1)", "e"), {}}};
    return usage.shape_of(cql::Batch::Kind::logged, items);
  };
  const std::shared_ptr<void> before = shape();
  EXPECT_EQ(shape(), before);
  must("DROP TABLE t");
  must("CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))");
  EXPECT_NE(shape(), before);
}

TEST_P(UsageTest, prepared_statements_and_equal_texts_share_a_shape) {
  auto prepared = database_->engine->planner().prepare("SELECT v FROM t WHERE p = ? AND c = ?", "e");
  ASSERT_TRUE(prepared);
  const base::Bytes one = types::encode_int32(1);
  const std::vector<types::ValueView> values = {types::ValueView::of(one), types::ValueView::of(one)};
  execute::Request request;
  request.values = values;
  for (int i = 0; i < 3; ++i)
    database_->engine->executor().execute(prepared->plan, request, [](auto result) { EXPECT_TRUE(result); });
  must("SELECT v FROM e.t WHERE p = 8 AND c = 9");
  EXPECT_EQ(counts("SELECT v FROM e.t WHERE p = ? AND c = ?"), "4 4 0 0 0 1");
}

TEST_P(UsageTest, failed_statements_and_system_tables_are_not_counted) {
  EXPECT_FALSE(database_->run("SELECT nothing FROM t"));
  EXPECT_FALSE(database_->run("INSERT INTO t (p, c) VALUES (1, 1) USING TTL -5"));
  must("SELECT * FROM system.local");
  must("SELECT * FROM system_views.query_shapes");
  EXPECT_THAT(rows("SELECT query FROM system_views.query_shapes"), IsEmpty());
}

TEST_P(UsageTest, partitions_are_described_with_and_without_files) {
  for (int p = 0; p < 20; ++p) insert(p, p == 7 ? 30 : 1);
  const std::string query =
      "SELECT partitions, rows, partition_rows_p50, partition_rows_p90, partition_rows_p99, "
      "partition_rows_max "
      "FROM system_views.table_statistics WHERE keyspace_name = 'e' AND table_name = 't'";
  EXPECT_EQ(row(query), "20 49 1 1 30 30");
  if (in_memory()) return;
  ASSERT_TRUE(database_->engine->flush());
  EXPECT_EQ(row(query), "20 49 1 1 30 30");
  // Half of each partition is in another file, and some rows are only in memory.
  for (int p = 0; p < 20; ++p) must("INSERT INTO t (p, c, v) VALUES (" + std::to_string(p) + ", 100, 'x')");
  ASSERT_TRUE(database_->engine->flush());
  must("INSERT INTO t (p, c, v) VALUES (7, 101, 'x')");
  EXPECT_EQ(row(query), "20 70 2 2 32 32");
  ASSERT_TRUE(database_->engine->flush());
  ASSERT_TRUE(database_->engine->compact());
  EXPECT_EQ(row(query), "20 70 2 2 32 32");
  open();
  EXPECT_EQ(row(query), "20 70 2 2 32 32");
}

TEST_P(UsageTest, they_are_not_computed_on_a_reactor_thread) {
  const auto plan = database_->engine->planner().plan_query(
      "SELECT * FROM system_views.table_statistics WHERE keyspace_name = 'e' AND table_name = 't'", "");
  ASSERT_TRUE(plan);
  EXPECT_TRUE((**plan).profile.may_block);
}

TEST_P(UsageTest, bytes_are_those_of_the_records) {
  must("INSERT INTO t (p, c, v) VALUES (1, 1, 'x')");
  const std::string query =
      "SELECT bytes, partition_bytes_p50, partition_bytes_max FROM system_views.table_statistics "
      "WHERE keyspace_name = 'e' AND table_name = 't'";
  const schema::Table& table = *database_->engine->schema()->find_table("e", "t");
  const auto records = database_->engine->store().iterate(row::table_begin(table.storage_id),
                                                          row::table_end(table.storage_id));
  uint64_t bytes = 0;
  for (records->seek_to_first(); records->valid(); records->next())
    bytes += records->key().size() + records->value().size();
  const std::string number = std::to_string(bytes);
  EXPECT_EQ(row(query), number + " " + number + " " + number);
}

TEST_P(UsageTest, a_truncated_table_is_empty_at_once) {
  insert(1, 10);
  const std::string query =
      "SELECT partitions, rows, partition_rows_max FROM system_views.table_statistics "
      "WHERE keyspace_name = 'e' AND table_name = 't'";
  if (!in_memory()) {
    ASSERT_TRUE(database_->engine->flush());
  }
  must("TRUNCATE t");
  EXPECT_EQ(row(query), "0 0 null");
  insert(2, 3);
  EXPECT_EQ(row(query), "1 3 3");
  if (in_memory()) return;
  ASSERT_TRUE(database_->engine->flush());
  EXPECT_EQ(row(query), "1 3 3");
  open();
  EXPECT_EQ(row(query), "1 3 3");
  ASSERT_TRUE(database_->engine->compact());
  EXPECT_EQ(row(query), "1 3 3");
}

TEST_P(UsageTest, a_truncated_table_is_counted_by_what_was_compacted_since) {
  if (in_memory()) return;
  insert(1, 10);
  ASSERT_TRUE(database_->engine->flush());
  const std::string query =
      "SELECT partitions, rows FROM system_views.table_statistics "
      "WHERE keyspace_name = 'e' AND table_name = 't'";
  must("TRUNCATE t");
  insert(2, 3);
  ASSERT_TRUE(database_->engine->flush());
  ASSERT_TRUE(database_->engine->compact());
  EXPECT_EQ(row(query), "1 3");
  must(
      "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE c IS NOT NULL AND p IS NOT NULL "
      "PRIMARY KEY (c, p)");
  ASSERT_TRUE(database_->engine->flush());
  ASSERT_TRUE(database_->engine->compact());
  EXPECT_EQ(row("SELECT partitions, rows FROM system_views.table_statistics "
                "WHERE keyspace_name = 'e' AND table_name = 'w'"),
            "3 3");
}

TEST_P(UsageTest, writes_that_still_wait_at_shutdown_are_answered) {
  constexpr int writes = 500;
  std::atomic<int> answered = 0;
  for (int i = 0; i < writes; ++i) {
    const auto plan = database_->engine->planner().plan_query(
        "INSERT INTO t (p, c, v) VALUES (1, " + std::to_string(i) + ", 'x')", "e");
    ASSERT_TRUE(plan);
    database_->engine->executor().execute(*plan, {}, [&](auto result) { answered += result ? 1 : 0; });
  }
  database_.reset();
  EXPECT_EQ(answered, writes);
}

TEST_P(UsageTest, hot_partitions_are_named) {
  must("CREATE TABLE h (a text, b int, v int, PRIMARY KEY ((a, b)))");
  for (int i = 0; i < 300; ++i) {
    const std::string key = i % 3 == 0 ? "'hot', 1" : "'cold', " + std::to_string(i);
    must("INSERT INTO h (a, b, v) VALUES (" + key + ", 1)");
  }
  for (int i = 0; i < 4; ++i) must("SELECT * FROM h WHERE a = 'hot' AND b = 1");
  must("SELECT * FROM h WHERE a = 'it''s' AND b = -1");
  const std::string where =
      " FROM system_views.hot_partitions WHERE keyspace_name = 'e' AND table_name = 'h'";
  EXPECT_EQ(row("SELECT partition_key" + where + " AND kind = 'write' AND rank = 1"), "'''hot'':1'");
  EXPECT_THAT(rows("SELECT rank, partition_key, count, error, share" + where + " AND kind = 'read'"),
              ElementsAre("1 '''hot'':1' 4 0 0.8", "2 '''it''''s'':-1' 1 0 0.2"));
  EXPECT_EQ(rows("SELECT rank" + where + " AND kind = 'write'").size(), 10u);
}

TEST_P(UsageTest, counts_survive_a_restart_and_are_dropped_with_their_table) {
  if (in_memory()) return;
  must("CREATE TABLE u (p int PRIMARY KEY, v int)");
  insert(1, 10);
  must("INSERT INTO u (p, v) VALUES (1, 1)");
  must("SELECT * FROM t WHERE p = 1");
  const std::string tables =
      "SELECT table_name, reads, writes, since FROM system_views.table_statistics WHERE keyspace_name = 'e'";
  const std::string shapes =
      "SELECT query, calls, rows_read, latency_p50_us, latency_max_us, first_seen, last_seen FROM "
      "system_views.query_shapes WHERE keyspace_name = 'e'";
  const std::string hot = "SELECT * FROM system_views.hot_partitions";
  const auto before = std::tuple(rows(tables), rows(shapes), rows(hot));
  EXPECT_EQ(std::get<1>(before).size(), 3u);
  open();
  EXPECT_EQ(std::tuple(rows(tables), rows(shapes), rows(hot)), before);
  must("SELECT * FROM t WHERE p = 1");
  EXPECT_EQ(counts("SELECT * FROM e.t WHERE p = ?"), "2 2 20 20 0 1");
  must("DROP TABLE t");
  EXPECT_THAT(rows("SELECT query FROM system_views.query_shapes"),
              ElementsAre("'INSERT INTO e.u (p, v) VALUES (?, ?)'"));
  EXPECT_THAT(rows("SELECT table_name FROM system_views.hot_partitions"), ElementsAre("'u'"));
  open();
  EXPECT_THAT(rows("SELECT query FROM system_views.query_shapes"),
              ElementsAre("'INSERT INTO e.u (p, v) VALUES (?, ?)'"));
  must("CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))");
  EXPECT_EQ(row("SELECT reads, writes FROM system_views.table_statistics WHERE keyspace_name = 'e' AND "
                "table_name = 't'"),
            "0 0");
  must("SELECT * FROM t WHERE p = 1");
  EXPECT_EQ(counts("SELECT * FROM e.t WHERE p = ?"), "1 1 0 0 0 1");
}

TEST_P(UsageTest, shapes_are_bounded_and_the_most_used_stay) {
  if (!in_memory()) return;
  for (int i = 0; i < 5; ++i) must("SELECT * FROM t WHERE p = 1");
  for (int i = 0; i < 1500; ++i) must("SELECT c AS column" + std::to_string(i) + " FROM t WHERE p = 1");
  EXPECT_LE(rows("SELECT shape FROM system_views.query_shapes").size(), Usage::max_shapes);
  EXPECT_GE(rows("SELECT shape FROM system_views.query_shapes").size(), Usage::max_shapes / 2);
  must("SELECT * FROM t WHERE p = 1");
  EXPECT_EQ(counts("SELECT * FROM e.t WHERE p = ?"), "6 6 0 0 0 1");
}

TEST_P(UsageTest, a_plan_whose_shape_was_evicted_is_counted_again) {
  if (!in_memory()) return;
  auto prepared = database_->engine->planner().prepare("SELECT v FROM t", "e");
  ASSERT_TRUE(prepared);
  for (int i = 0; i < 2000; ++i) must("SELECT c AS column" + std::to_string(i) + " FROM t WHERE p = 1");
  database_->engine->executor().execute(prepared->plan, {}, [](auto result) { EXPECT_TRUE(result); });
  EXPECT_EQ(counts("SELECT v FROM e.t"), "1 0 0 0 0 0");
}

TEST_P(UsageTest, threads_count_together) {
  constexpr int threads = 6, statements = 200;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      for (int k = 0; k < statements; ++k) {
        must("INSERT INTO t (p, c, v) VALUES (" + std::to_string(i) + ", " + std::to_string(k) + ", 'x')");
        must("SELECT v FROM t WHERE p = " + std::to_string(i) + " AND c = " + std::to_string(k));
        if (k % 50 == 0) (void)database_->run("SELECT * FROM system_views.query_shapes");
        if (k % 50 == 0) (void)database_->run("SELECT * FROM system_views.hot_partitions");
      }
    });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(counts("SELECT v FROM e.t WHERE p = ? AND c = ?"), "1200 1200 1200 1200 0 1");
  EXPECT_EQ(row("SELECT reads, writes FROM system_views.table_statistics WHERE keyspace_name = 'e' AND "
                "table_name = 't'"),
            "1200 1200");
  EXPECT_THAT(
      rows("SELECT partition_key, count, error FROM system_views.hot_partitions WHERE keyspace_name = 'e' "
           "AND table_name = 't' AND kind = 'write' AND rank <= 6"),
      testing::Each(testing::EndsWith(" 200 0")));
}

// --- Persistence

class UsageKeeping : public testing::Test {
 protected:
  UsageKeeping() {
    auto keyspace = std::make_shared<schema::Keyspace>();
    keyspace->name = "k";
    auto table = std::make_shared<schema::Table>();
    table->keyspace = "k";
    table->name = "t";
    table->storage_id = 2000;
    keyspace->tables.insert_or_assign("t", table);
    auto schema = std::make_shared<schema::Snapshot>();
    schema->keyspaces.insert_or_assign("k", keyspace);
    table_ = table;
    schema_ = schema;
  }
  std::vector<base::Bytes> keys() const {
    std::vector<base::Bytes> keys;
    const base::Bytes begin = row::table_begin(usage_table_id), end = row::table_end(usage_table_id);
    const auto records = store_->iterate(begin, end);
    for (records->seek_to_first(); records->valid(); records->next()) keys.emplace_back(records->key());
    return keys;
  }

  base::SystemClock clock_;
  std::unique_ptr<storage::Store> store_ = make_system_store(clock_);
  schema::TablePtr table_;
  schema::SnapshotPtr schema_;
};

TEST_F(UsageKeeping, counts_of_several_servers_add_up) {
  constexpr int64_t second = 1'000'000;
  base::ManualClock clock(1000 * second);
  const auto server = [&](int64_t begin_seconds, int64_t end_seconds, uint64_t tombstones) {
    clock.set_micros(begin_seconds * second);
    const auto store = make_system_store(clock);
    Usage usage(clock);
    usage.read(*table_, std::vector<base::Bytes>{"a"}, tombstones);
    clock.set_micros(end_seconds * second);
    {
      UsageKeeper keeper(*store, usage, [this] { return schema_; });
    }
    const auto records = make_usage_records(*store)->load();
    EXPECT_TRUE(records);
    return *saved_totals(*records, *schema_);
  };
  UsageTotals totals = server(1000, 1100, 1);
  totals.add(server(1050, 1120, 5));
  totals.add(server(1200, 1210, 3));
  EXPECT_EQ(totals.since_micros(), 1000 * second);
  EXPECT_EQ(totals.counted_micros(1000 * second), 130u * second);  // nothing was counted from 1120 to 1200
  EXPECT_EQ(totals.counted_micros(1090 * second), 40u * second);
  EXPECT_EQ(totals.tables.at(2000).reads, 3u);
  EXPECT_EQ(totals.tables.at(2000).tombstones_per_read.max(), 5u);
  EXPECT_EQ(totals.tables.at(2000).partitions_read.heaviest(1).at(0).count, 3u);
  EXPECT_FALSE(saved_totals({}, *schema_));
}

TEST_F(UsageKeeping, saved_counts_survive_a_crash) {
  Usage usage(clock_);
  UsageKeeper keeper(*store_, usage, [this] { return schema_; });
  const std::vector<base::Bytes> partitions = {"a", "b"};
  usage.read(*table_, partitions, 3);
  ASSERT_TRUE(keeper.save());
  usage.read(*table_, partitions, 3);  // this was not saved, so it is lost
  Usage again(clock_);
  ASSERT_TRUE(load_usage(*store_, *schema_, again));
  const std::map<uint32_t, TableCounts> tables = again.tables();
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.at(2000).reads, 1u);
  EXPECT_EQ(tables.at(2000).tombstones_per_read.max(), 3u);
  EXPECT_EQ(tables.at(2000).partitions_read.heaviest().size(), 2u);
  EXPECT_EQ(again.since_micros(), usage.since_micros());
}

TEST_F(UsageKeeping, large_saves_are_split_and_failed_pieces_are_retried) {
  constexpr uint32_t tables = 100;
  std::atomic<uint64_t> commits = 0;
  storage::memory::Options options;
  options.fail_commit = [&](uint64_t) { return ++commits == 2; };
  const auto store = storage::memory::make_store(std::move(options));
  auto keyspace = std::make_shared<schema::Keyspace>();
  Usage usage(clock_);
  for (uint32_t i = 0; i < tables; ++i) {
    auto table = std::make_shared<schema::Table>();
    table->storage_id = 2000 + i;
    keyspace->tables.insert_or_assign(std::to_string(i), table);
    std::vector<base::Bytes> keys;
    for (int k = 0; k < 64; ++k) keys.push_back(std::string(250, 'k') + std::to_string(k));
    usage.read(*table, keys, 0);
  }
  auto schema = std::make_shared<schema::Snapshot>();
  schema->keyspaces.insert_or_assign("k", keyspace);
  UsageKeeper keeper(*store, usage, [&] { return schema; });
  EXPECT_FALSE(keeper.save());  // 1.6 MB
  ASSERT_TRUE(keeper.save());
  Usage again(clock_);
  ASSERT_TRUE(load_usage(*store, *schema, again));
  EXPECT_EQ(again.tables().size(), tables);
}

TEST_F(UsageKeeping, time_that_the_server_was_down_is_not_counted) {
  constexpr int64_t second = 1'000'000;
  base::ManualClock clock(1'700'000'000 * second);
  const int64_t start = clock.now_micros();
  {
    Usage usage(clock);
    UsageKeeper keeper(*store_, usage, [this] { return schema_; });
    usage.read(*table_, {}, 0);
    clock.advance_seconds(100);
    EXPECT_EQ(usage.counted_micros(start), 100u * second);
  }
  clock.advance_seconds(5000);
  for (int i = 1; i <= 2; ++i) {
    Usage usage(clock);
    ASSERT_TRUE(load_usage(*store_, *schema_, usage));
    UsageKeeper keeper(*store_, usage, [this] { return schema_; });
    clock.advance_seconds(50);
    EXPECT_EQ(usage.counted_micros(start), (100u + 50 * i) * second);
    EXPECT_EQ(usage.counted_micros(clock.now_micros() - 10 * second), 10u * second);
    ASSERT_TRUE(keeper.save());
  }
}

// A shape without a table, and one with an invalid table id.
TEST_F(UsageKeeping, damaged_shapes_are_ignored) {
  const base::Bytes none(1, '\0');
  base::Bytes too_large(1, '\x01');
  base::append_varint(too_large, (uint64_t{1} << 32) + table_->storage_id);
  for (const base::Bytes& tables : {none, too_large}) {
    base::Bytes shape(1, '\x01');
    for (int i = 0; i < 4; ++i) base::append_sized(shape, "text");
    shape += tables;
    for (int i = 0; i < 6; ++i) base::append_varint(shape, 1);
    for (int i = 0; i < 2; ++i) base::append_signed_varint(shape, 1);
    base::QuantileSketch().append_to(shape);
    storage::WriteSet writes;
    base::Bytes header(1, '\x01');
    base::append_signed_varint(header, 1);
    writes.put(row::table_begin(usage_table_id) + "h", header);
    writes.put(row::table_begin(usage_table_id) + "s12345678", shape);
    ASSERT_TRUE(store_->commit(std::move(writes)));
    Usage usage(clock_);
    ASSERT_TRUE(load_usage(*store_, *schema_, usage));
    EXPECT_THAT(usage.shapes(), IsEmpty());
  }
}

TEST_F(UsageKeeping, records_of_dropped_tables_are_erased_and_unreadable_ones_ignored) {
  {
    Usage usage(clock_);
    UsageKeeper keeper(*store_, usage, [this] { return schema_; });
    usage.read(*table_, {}, 0);
  }
  EXPECT_EQ(keys().size(), 2u);  // a header and a table
  storage::WriteSet writes;
  base::Bytes wrong = row::table_begin(usage_table_id) + "s12345678";
  writes.put(wrong, "\x09 of a later version");
  ASSERT_TRUE(store_->commit(std::move(writes)));
  Usage usage(clock_);
  ASSERT_TRUE(load_usage(*store_, *schema_, usage));
  EXPECT_THAT(usage.shapes(), IsEmpty());
  EXPECT_EQ(usage.tables().size(), 1u);
  schema_ = std::make_shared<schema::Snapshot>();
  UsageKeeper keeper(*store_, usage, [this] { return schema_; });
  ASSERT_TRUE(keeper.save());
  EXPECT_EQ(keys().size(), 1u);
}

}  // namespace
}  // namespace sibyl::engine
