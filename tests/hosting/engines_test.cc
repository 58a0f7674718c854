// Engines of several servers over the shards that they share.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "engine/intents/intents.h"
#include "execute/index/check.h"
#include "hosting/test_engines.h"
#include "row/record_key.h"

namespace sibyl::cluster {
namespace {

class Engines : public testing::Test {
 protected:
  void start() {
    engines_.open_all();
    engines_.must(
        0, "CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    engines_.keyspace = "e";
  }
  // Waits until all servers use the index.
  void await_built(const std::string& table) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (size_t i = 0; i < engines_.size(); ++i)
      while (!engines_.at(i).schema()->find_table("e", table)->indexes[0].is_built) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
  }
  void expect_same_version() {
    for (size_t i = 1; i < engines_.size(); ++i)
      EXPECT_EQ(engines_.at(i).schema()->version, engines_.at(0).schema()->version);
  }

  TestEngines engines_;
};

TEST_F(Engines, AllServersUseADefinitionWhenItReturns) {
  start();
  std::vector<std::string> events;
  engines_.at(2).schema_source().subscribe([&](const schema::Change& change) {
    events.push_back(
        fmt::format("{} {} {}", static_cast<int>(change.kind), static_cast<int>(change.target), change.name));
  });
  engines_.must(1, "CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  expect_same_version();
  for (int k = 0; k < 60; ++k)
    engines_.must(k, fmt::format("INSERT INTO t (k, c, v) VALUES ({}, 1, {})", k, k));
  std::vector<std::string> all = engines_.rows(0, "SELECT k, v FROM t");
  EXPECT_EQ(all.size(), 60u);
  for (size_t i = 1; i < engines_.size(); ++i) EXPECT_EQ(engines_.rows(i, "SELECT k, v FROM t"), all);
  for (size_t i = 0; i < engines_.size(); ++i) {
    EXPECT_EQ(engines_.rows(i, "SELECT v FROM t WHERE k = 17"), std::vector<std::string>{"17"});
    EXPECT_EQ(engines_.rows(i, "SELECT v FROM t WHERE k IN (1, 2, 3, 4, 5, 99)").size(), 5u);
    EXPECT_EQ(engines_.rows(i, "SELECT count(*) FROM t"), std::vector<std::string>{"60"});
  }
  engines_.must(0, "ALTER TABLE t ADD w text");
  engines_.must(2, "UPDATE t SET w = 'x' WHERE k = 3 AND c = 1");
  EXPECT_EQ(engines_.rows(1, "SELECT w FROM t WHERE k = 3"), std::vector<std::string>{"x"});
  engines_.must(2, "DROP TABLE t");
  for (size_t i = 0; i < engines_.size(); ++i) EXPECT_FALSE(engines_.run(i, "SELECT * FROM t").has_value());
  EXPECT_EQ(events, (std::vector<std::string>{"0 1 t", "1 1 t", "2 1 t"}));
}

TEST_F(Engines, OnlyTheServerWithTheCatalogueDefines) {
  start();
  const auto refused = engine::run_text(engines_.at(1), "CREATE TABLE t (k int PRIMARY KEY)", "e");
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(storage::is_not_here(refused.error())) << refused.error().text();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY)");
  // The successor of the first server has the whole schema, and continues.
  engines_.cluster.move(0, 1);
  const auto former = engine::run_text(engines_.at(0), "CREATE TABLE u (k int PRIMARY KEY)", "e");
  ASSERT_FALSE(former.has_value());
  EXPECT_TRUE(storage::is_not_here(former.error())) << former.error().text();
  engines_.must(0, "CREATE TABLE u (k int PRIMARY KEY)");
  engines_.must(2, "INSERT INTO u (k) VALUES (1)");
  engines_.must(2, "INSERT INTO t (k) VALUES (1)");
  expect_same_version();
  // A server that missed a definition learns of it when it opens.
  engines_.close(2);
  engines_.cluster.move(2, 0);
  engines_.cluster.move(5, 1);
  engines_.must(1, "CREATE TABLE w (k int PRIMARY KEY)");
  ASSERT_TRUE(engines_.open(2).has_value());
  engines_.must(2, "INSERT INTO w (k) VALUES (1)");
  EXPECT_EQ(engines_.rows(2, "SELECT k FROM w"), std::vector<std::string>{"1"});
}

TEST_F(Engines, ServersWaitForTheOneThatMakesTheCatalogue) {
  std::atomic<bool> is_open = false;
  std::thread early([&] {
    const auto opened = engines_.open(2);
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    is_open = true;
  });
  while (engines_.cluster.at(0).calls < 5) std::this_thread::yield();
  EXPECT_FALSE(is_open);
  ASSERT_TRUE(engines_.open(0).has_value());
  early.join();
  EXPECT_EQ(engines_.at(0).schema()->version, engines_.at(2).schema()->version);
}

// Rule 17. Writes that are prepared stay valid.
TEST_F(Engines, TruncateGivesNewStorage) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  engines_.must(0, "CREATE INDEX i ON t (v)");
  await_built("t");
  for (int k = 0; k < 50; ++k) engines_.must(k, fmt::format("INSERT INTO t (k, v) VALUES ({}, 7)", k));
  const auto prepared = engines_.at(1).planner().prepare("SELECT k FROM t WHERE k = 3", "e");
  ASSERT_TRUE(prepared.has_value());
  const schema::TablePtr before = engines_.at(0).schema()->find_table("e", "t");
  engines_.must(1, "TRUNCATE t");
  const schema::TablePtr after = engines_.at(2).schema()->find_table("e", "t");
  EXPECT_NE(before->storage_id, after->storage_id);
  EXPECT_NE(before->indexes[0].storage_id, after->indexes[0].storage_id);
  EXPECT_TRUE(after->indexes[0].is_built);
  EXPECT_EQ(before->id, after->id);
  for (size_t i = 0; i < engines_.size(); ++i) {
    EXPECT_TRUE(engines_.rows(i, "SELECT k FROM t").empty());
    EXPECT_TRUE(engines_.rows(i, "SELECT k FROM t WHERE v = 7").empty());
  }
  engines_.must(2, "INSERT INTO t (k, v) VALUES (3, 8)");
  const auto found = engines_.at(1).planner().find_prepared(prepared->id);
  ASSERT_TRUE(found.has_value()) << found.error().text();
  const auto result = engine::run_plan(engines_.at(1), *found);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(engine::lines_of(*result), std::vector<std::string>{"3"});
  EXPECT_EQ(engines_.rows(1, "SELECT k FROM t WHERE v = 8"), std::vector<std::string>{"3"});
  // Each owner frees the space of the truncated records.
  for (size_t i = 0; i < engines_.size(); ++i) {
    ASSERT_TRUE(engines_.at(i).flush().has_value());
    ASSERT_TRUE(engines_.at(i).compact().has_value());
  }
  for (const uint32_t id : {before->storage_id, before->indexes[0].storage_id}) {
    const auto left = engines_.at(0).store().iterate(row::table_begin(id), row::table_end(id));
    left->seek_to_first();
    EXPECT_FALSE(left->valid()) << id;
    EXPECT_TRUE(left->status().has_value());
  }
  EXPECT_EQ(engines_.rows(1, "SELECT k FROM t WHERE v = 8"), std::vector<std::string>{"3"});
  EXPECT_FALSE(engines_.run(0, "TRUNCATE nothing").has_value());
}

TEST_F(Engines, EachOwnerBuildsItsPartOfAnIndex) {
  start();
  engines_.must(0, "CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  for (int k = 0; k < 200; ++k)
    engines_.must(k, fmt::format("INSERT INTO t (k, c, v) VALUES ({}, {}, {})", k, k % 3, k % 10));
  engines_.must(1, "CREATE INDEX i ON t (v)");
  await_built("t");
  for (int k = 200; k < 240; ++k)
    engines_.must(k, fmt::format("INSERT INTO t (k, c, v) VALUES ({}, 1, {})", k, k % 10));
  engines_.must(0, "DELETE FROM t WHERE k = 5");
  engines_.must(0, "UPDATE t SET v = 100 WHERE k = 15 AND c = 0");
  for (size_t i = 0; i < engines_.size(); ++i) {
    EXPECT_EQ(engines_.rows(i, "SELECT k FROM t WHERE v = 5").size(), 22u);
    EXPECT_EQ(engines_.rows(i, "SELECT k FROM t WHERE v = 100"), std::vector<std::string>{"15"});
    EXPECT_EQ(engines_.rows(i, "SELECT k FROM t WHERE k = 25 AND v = 5"), std::vector<std::string>{"25"});
    const auto faults = execute::check_index_maintenance(*engines_.at(i).schema(), engines_.at(i).store(), 0);
    ASSERT_TRUE(faults.has_value()) << faults.error().text();
    EXPECT_EQ(*faults, std::vector<std::string>{});
  }
  // In the order of a scan.
  std::vector<std::string> scan = engines_.rows(0, "SELECT k, v FROM t");
  std::erase_if(scan, [](const std::string& row) { return !row.ends_with("|7"); });
  EXPECT_EQ(engines_.rows(1, "SELECT k, v FROM t WHERE v = 7"), scan);
}

// Shards move while an index is built, and while rows are written.
TEST_F(Engines, BuildsSurviveMovesOfShards) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  for (int k = 0; k < 300; ++k)
    engines_.must(k, fmt::format("INSERT INTO t (k, v) VALUES ({}, {})", k, k % 5));
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (int k = 300; !is_done && k < 3000; ++k)
      engines_.must(k, fmt::format("INSERT INTO t (k, v) VALUES ({}, {})", k, k % 5));
  });
  std::thread mover([&] {
    std::mt19937_64 random(3);
    for (int i = 0; i < 25 && !is_done; ++i)
      engines_.cluster.move(1 + static_cast<uint32_t>(random() % 6), random() % engines_.size());
  });
  engines_.must(2, "CREATE INDEX i ON t (v)");
  mover.join();
  await_built("t");
  is_done = true;
  writer.join();
  const auto faults = execute::check_index_maintenance(*engines_.at(0).schema(), engines_.at(0).store(), 0);
  ASSERT_TRUE(faults.has_value()) << faults.error().text();
  EXPECT_EQ(*faults, std::vector<std::string>{});
}

TEST_F(Engines, RolesOfOneServerAreThoseOfAll) {
  engines_.options.auth.authenticator = auth::Authenticator::password;
  engines_.options.auth.authorizer = auth::Authorizer::cassandra;
  engines_.open_all();
  const auto super = engines_.at(0).authenticator().log_in("cassandra", "cassandra");
  ASSERT_TRUE(super.has_value()) << super.error().text();
  const auto as_super = [&](const std::string& text) {
    auto plan = engines_.at(0).planner().plan_query(text, "");
    ASSERT_TRUE(plan.has_value()) << plan.error().text();
    std::promise<base::Result<execute::ResultSet>> promise;
    engines_.at(0).executor().execute_as(*super, *plan, {}, [&](base::Result<execute::ResultSet> result) {
      promise.set_value(std::move(result));
    });
    const auto result = promise.get_future().get();
    ASSERT_TRUE(result.has_value()) << text << ": " << result.error().text();
  };
  EXPECT_TRUE(engines_.at(2).authenticator().log_in("cassandra", "cassandra").has_value());
  EXPECT_FALSE(engines_.at(2).authenticator().log_in("ann", "secret").has_value());
  as_super("CREATE ROLE ann WITH PASSWORD = 'secret' AND LOGIN = true");
  EXPECT_TRUE(engines_.at(2).authenticator().log_in("ann", "secret").has_value());
  as_super("DROP ROLE ann");
  EXPECT_FALSE(engines_.at(1).authenticator().log_in("ann", "secret").has_value());
}

TEST_F(Engines, CountersOfSeveralServersAreRefused) {
  start();
  engines_.must(0, "CREATE TABLE n (k int PRIMARY KEY, n counter)");
  std::string batch = "BEGIN COUNTER BATCH ";
  for (int k = 0; k < 20; ++k) batch += fmt::format("UPDATE n SET n = n + 1 WHERE k = {}; ", k);
  const auto refused = engines_.run(1, batch + "APPLY BATCH");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("several servers"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(engines_.rows(0, "SELECT * FROM n").empty());
  // All shards of one server.
  for (uint32_t shard = 0; shard < 7; ++shard) engines_.cluster.move(shard, 1);
  engines_.must(1, batch + "APPLY BATCH");
  EXPECT_EQ(engines_.rows(0, "SELECT * FROM n").size(), 20u);
}

std::string batch_of(const std::string& begin, int rows, int value) {
  std::string batch = begin;
  for (int k = 0; k < rows; ++k) batch += fmt::format(" INSERT INTO t (k, v) VALUES ({}, {});", k, value);
  return batch + " APPLY BATCH";
}

TEST_F(Engines, BatchesGoToAllOwners) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  engines_.must(0, "CREATE INDEX i ON t (v)");
  await_built("t");
  int value = 0;
  for (const char* begin : {"BEGIN BATCH", "BEGIN UNLOGGED BATCH"})
    for (size_t i = 0; i < engines_.size(); ++i) {
      engines_.must(i, batch_of(begin, 20, ++value));
      EXPECT_EQ(engines_.rows((i + 1) % 3, fmt::format("SELECT k FROM t WHERE v = {}", value)).size(), 20u);
      EXPECT_TRUE(engines_.rows(i, fmt::format("SELECT k FROM t WHERE v = {}", value - 1)).empty());
    }
  const auto faults = execute::check_index_maintenance(*engines_.at(0).schema(), engines_.at(0).store(), 0);
  ASSERT_TRUE(faults.has_value()) << faults.error().text();
  EXPECT_EQ(*faults, std::vector<std::string>{});
  // Batches are sent one after the other, each as soon as the one before is complete.
  for (int i = 0; i < 150; ++i) engines_.must(0, batch_of("BEGIN UNLOGGED BATCH", 10, i));
  const auto intents = engines_.at(0).store().iterate(row::table_begin(engine::intents_table_id),
                                                      row::table_end(engine::intents_table_id));
  intents->seek_to_first();
  EXPECT_FALSE(intents->valid());
}

TEST_F(Engines, AnyServerCoordinatesABatch) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  engines_.must(0, "CREATE INDEX i ON t (v)");
  await_built("t");
  for (uint32_t shard = 0; shard < 7; ++shard) engines_.cluster.move(shard, 1 + shard % 2);
  const auto run_at_first = [&](const std::string& text) {
    const auto result = engine::run_text(engines_.at(0), text, "e");
    EXPECT_TRUE(result.has_value()) << text << ": " << result.error().text();
  };
  run_at_first(batch_of("BEGIN BATCH", 20, 1));
  EXPECT_EQ(engines_.rows(0, "SELECT k FROM t WHERE v = 1").size(), 20u);
  run_at_first("UPDATE t SET v = 2 WHERE k IN (0, 1, 2, 3, 4, 5, 6, 7)");
  EXPECT_EQ(engines_.rows(1, "SELECT k FROM t WHERE v = 2").size(), 8u);
  run_at_first("DELETE FROM t WHERE k IN (4, 5, 6, 7, 8, 9)");
  EXPECT_EQ(engines_.rows(2, "SELECT k FROM t").size(), 14u);
  const auto faults = execute::check_index_maintenance(*engines_.at(0).schema(), engines_.at(0).store(), 0);
  ASSERT_TRUE(faults.has_value()) << faults.error().text();
  EXPECT_EQ(*faults, std::vector<std::string>{});
}

// The server that has the intent dies before it has applied the parts. The next owner of the intent's shard
// applies them.
TEST_F(Engines, BatchesOverSeveralServersAreCompletedByOthers) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  engines_.must(0, "CREATE INDEX i ON t (v)");
  await_built("t");
  engines_.loses_parts = true;
  const auto lost = engines_.run(0, batch_of("BEGIN BATCH", 20, 1));
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code(), base::ErrorCode::write_timeout) << lost.error().text();
  const size_t applied = engines_.rows(1, "SELECT k FROM t").size();
  EXPECT_GT(applied, 0u);
  EXPECT_LT(applied, 20u);
  engines_.close(0);
  for (uint32_t shard = 0; shard < 7; shard += 3) engines_.cluster.move(shard, 1);
  engines_.loses_parts = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (engine::lines_of(*engine::run_text(engines_.at(2), "SELECT k FROM t", "e")).size() < 20) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto faults = execute::check_index_maintenance(*engines_.at(1).schema(), engines_.at(1).store(), 0);
  ASSERT_TRUE(faults.has_value()) << faults.error().text();
  EXPECT_EQ(*faults, std::vector<std::string>{});
}

// Rule 14. The clock of the batch's server is behind that of a server that owns one of its partitions.
TEST_F(Engines, ABatchIsNewerThanWhatItsOwnersWroteBefore) {
  base::ManualClock early(1'700'000'000'000'000), late(1'700'000'020'000'000);
  engines_.clocks = {&early, &late, &late};
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int)");
  for (int k = 0; k < 20; ++k) engines_.must(0, fmt::format("INSERT INTO t (k, v) VALUES ({}, 1)", k));
  const auto written = engine::run_text(engines_.at(0), batch_of("BEGIN BATCH", 20, 2), "e");
  ASSERT_TRUE(written.has_value()) << written.error().text();
  for (int k = 0; k < 20; ++k)
    EXPECT_EQ(engines_.rows(1, fmt::format("SELECT v FROM t WHERE k = {}", k)),
              std::vector<std::string>{"2"});
  // The batch is also older than later writes of its owners.
  early.advance_seconds(60);
  ASSERT_TRUE(engine::run_text(engines_.at(0), batch_of("BEGIN UNLOGGED BATCH", 20, 3), "e").has_value());
  for (int k = 0; k < 20; ++k) {
    engines_.must(1, fmt::format("UPDATE t SET v = 4 WHERE k = {}", k));
    EXPECT_EQ(engines_.rows(1, fmt::format("SELECT v FROM t WHERE k = {}", k)),
              std::vector<std::string>{"4"});
  }
}

// Rule 13. A batch that is applied again must not bring back data that was deleted after it.
TEST_F(Engines, DeletionsStayForIntents) {
  base::ManualClock& clock = engines_.cluster.store_clock;
  engines_.clocks = {&clock, &clock, &clock};
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int) WITH gc_grace_seconds = 0");
  engines_.must(0, "INSERT INTO t (k, v) VALUES (1, 1)");
  engines_.must(0, "DELETE FROM t WHERE k = 1");
  const auto records = [&](int64_t seconds) {
    clock.advance_seconds(seconds);
    for (size_t i = 0; i < engines_.size(); ++i) {
      EXPECT_TRUE(engines_.at(i).flush().has_value());
      EXPECT_TRUE(engines_.at(i).compact().has_value());
    }
    const uint32_t id = engines_.at(0).schema()->find_table("e", "t")->storage_id;
    const auto found = engines_.at(0).store().iterate(row::table_begin(id), row::table_end(id));
    int count = 0;
    for (found->seek_to_first(); found->valid(); found->next()) ++count;
    return count;
  };
  EXPECT_EQ(records(600), 1);
  EXPECT_EQ(records(3600), 0);
}

// Counters and conditions run at the owner, and lose nothing while it changes.
TEST_F(Engines, CountersAndConditionsAreExactWhileShardsMove) {
  start();
  engines_.must(0, "CREATE TABLE n (k int PRIMARY KEY, n counter)");
  engines_.must(0, "CREATE TABLE s (k int PRIMARY KEY, v int)");
  constexpr int keys = 8, rounds = 40;
  for (int k = 0; k < keys; ++k) engines_.must(0, fmt::format("INSERT INTO s (k, v) VALUES ({}, 0)", k));
  std::vector<std::thread> clients;
  std::atomic<int> swapped = 0;
  for (size_t client = 0; client < 3; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < rounds; ++i) {
        const int k = i % keys;
        engines_.must(client, fmt::format("UPDATE n SET n = n + 1 WHERE k = {}", k));
        const std::string now = engines_.rows(client, fmt::format("SELECT v FROM s WHERE k = {}", k)).at(0);
        const auto result = engines_.rows(
            client, fmt::format("UPDATE s SET v = {} WHERE k = {} IF v = {}", std::stoi(now) + 1, k, now));
        swapped += result.at(0).starts_with("True");
      }
    });
  std::mt19937_64 random(5);
  for (int i = 0; i < 30; ++i)
    engines_.cluster.move(static_cast<uint32_t>(random() % 7), random() % engines_.size());
  for (std::thread& client : clients) client.join();
  int counted = 0, values = 0;
  for (int k = 0; k < keys; ++k) {
    counted += std::stoi(engines_.rows(0, fmt::format("SELECT n FROM n WHERE k = {}", k)).at(0));
    values += std::stoi(engines_.rows(1, fmt::format("SELECT v FROM s WHERE k = {}", k)).at(0));
  }
  EXPECT_EQ(counted, 3 * rounds);
  EXPECT_EQ(values, swapped);
}

}  // namespace
}  // namespace sibyl::cluster
