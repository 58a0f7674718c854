// Views whose rows are on other servers than their base rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "engine/builds/shard_build.h"
#include "engine/intents/intents.h"
#include "engine/intents/view_tickets.h"
#include "execute/index/check.h"
#include "execute/index/view_records.h"
#include "hosting/test_engines.h"
#include "row/record_key.h"
#include "types/keys/murmur3.h"
#include "types/value.h"

namespace sibyl::cluster {
namespace {

using base::Bytes;
using engine::ViewTickets;
using Lines = std::vector<std::string>;

constexpr const char* create_view =
    "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k)";

class Views : public testing::Test {
 protected:
  void start() {
    engines_.open_all();
    engines_.must(
        0, "CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    engines_.keyspace = "e";
  }
  void start_with_view() {
    start();
    engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int, x int)");
    engines_.must(0, create_view);
    await_built("w");
  }
  static void await(const std::string& what, const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_so()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void await_built(const std::string& view) {
    for (size_t i = 0; i < engines_.size(); ++i)
      await("built", [&] { return engines_.at(i).schema()->find_table("e", view)->view->is_built; });
  }
  size_t count(size_t member, uint32_t table_id) {
    const auto records =
        engines_.at(member).store().iterate(row::table_begin(table_id), row::table_end(table_id));
    size_t count = 0;
    for (records->seek_to_first(); records->valid(); records->next()) ++count;
    EXPECT_TRUE(records->status().has_value());
    return count;
  }
  void await_no_intents(size_t member = 1) {
    await("no intents", [&] { return count(member, engine::intents_table_id) == 0; });
  }
  void expect_views_equal_base(size_t member = 1) {
    const auto faults =
        execute::check_index_maintenance(*engines_.at(member).schema(), engines_.at(member).store(), 0);
    ASSERT_TRUE(faults.has_value()) << faults.error().text();
    EXPECT_EQ(*faults, Lines{});
  }
  // The member that has the partition of an int, before shards move.
  size_t owner_of(int key) const {
    return engines_.cluster.map().shard_of_token(types::murmur3_token(types::encode_int32(key))) %
           engines_.size();
  }
  // Returns the first int, from `from` on, whose partition this member has.
  int key_at(size_t member, int from = 0) const {
    while (owner_of(from) != member) ++from;
    return from;
  }
  void write(int k, int v) {
    engines_.must(owner_of(k), fmt::format("INSERT INTO t (k, v, x) VALUES ({}, {}, 0)", k, v));
  }
  Lines keys_with(int v, size_t member = 1) {
    return engines_.rows(member, fmt::format("SELECT k FROM w WHERE v = {}", v));
  }

  TestEngines engines_;
};

TEST_F(Views, ShowAWriteOnceItIsAcknowledged) {
  start_with_view();
  for (int k = 0; k < 60; ++k) {
    write(k, k % 7);
    EXPECT_EQ(engines_.rows(k % 3, fmt::format("SELECT k FROM w WHERE v = {} AND k = {}", k % 7, k)),
              Lines{std::to_string(k)});
  }
  for (int k = 0; k < 60; ++k) {
    engines_.must(k, fmt::format("UPDATE t SET v = {} WHERE k = {} IF v = {}", k % 7 + 10, k, k % 7));
    EXPECT_TRUE(
        engines_.rows(k % 3, fmt::format("SELECT k FROM w WHERE v = {} AND k = {}", k % 7, k)).empty());
    EXPECT_EQ(engines_.rows(k % 3, fmt::format("SELECT k FROM w WHERE v = {} AND k = {}", k % 7 + 10, k)),
              Lines{std::to_string(k)});
  }
  for (int k = 0; k < 60; k += 2) {
    engines_.must(k, fmt::format("DELETE FROM t WHERE k = {}", k));
    EXPECT_TRUE(
        engines_.rows(k % 3, fmt::format("SELECT k FROM w WHERE v = {} AND k = {}", k % 7 + 10, k)).empty());
  }
  expect_views_equal_base();
  await_no_intents();
}

TEST_F(Views, FollowBatchesOverSeveralServers) {
  start_with_view();
  for (const char* begin : {"BEGIN BATCH", "BEGIN UNLOGGED BATCH"})
    for (int v = 0; v < 6; ++v) {
      std::string batch = begin;
      for (int k = 0; k < 20; ++k) batch += fmt::format(" INSERT INTO t (k, v) VALUES ({}, {});", k, v);
      const auto result = engine::run_text(engines_.at(v % 3), batch + " APPLY BATCH", "e");
      ASSERT_TRUE(result.has_value()) << result.error().text();
      EXPECT_EQ(keys_with(v, (v + 1) % 3).size(), 20u);
      EXPECT_TRUE(keys_with((v + 5) % 6).empty());
    }
  const auto result =
      engine::run_text(engines_.at(2), "UPDATE t SET v = 9 WHERE k IN (0, 1, 2, 3, 4, 5)", "e");
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(keys_with(9).size(), 6u);
  expect_views_equal_base();
  await_no_intents();
}

// Every kind of write, by several clients, while shards move. Each client has rows of its own, which views
// show as soon as a write of them is acknowledged; other rows are written by all.
TEST_F(Views, EqualTheirBaseAfterRandomWritesWhileShardsMove) {
  start();
  engines_.must(0, "CREATE TABLE t (k int, c int, v int, x text, PRIMARY KEY (k, c))");
  engines_.must(0,
                "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE v IS NOT NULL AND k IS NOT NULL AND c "
                "IS NOT NULL PRIMARY KEY (v, k, c)");
  engines_.must(0,
                "CREATE MATERIALIZED VIEW u AS SELECT k, c, v FROM t WHERE k IS NOT NULL AND c IS NOT NULL "
                "PRIMARY KEY (c, k)");
  await_built("w");
  await_built("u");
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client)
    clients.emplace_back([&, client] {
      std::mt19937_64 random(static_cast<uint64_t>(client) + 11);
      const auto below = [&](int end) { return static_cast<int>(random() % static_cast<uint64_t>(end)); };
      for (int i = 0; i < 120; ++i) {
        const int k = below(4), c = below(4), v = below(5);
        const std::string row = fmt::format("k = {} AND c = {}", k, c);
        const Lines statements = {
            fmt::format("INSERT INTO t (k, c, v, x) VALUES ({}, {}, {}, 'a')", k, c, v),
            fmt::format("UPDATE t SET v = {} WHERE {}", v, row),
            fmt::format("UPDATE t SET x = '{}' WHERE {}", i, row),
            fmt::format("UPDATE t SET v = {} WHERE {} IF v != {}", v, row, v),
            fmt::format("DELETE v FROM t WHERE {}", row),
            fmt::format("DELETE FROM t WHERE {}", row),
            fmt::format("DELETE FROM t WHERE k = {} AND c > {}", k, c),
            fmt::format("DELETE FROM t WHERE k = {}", k),
            fmt::format(
                "BEGIN BATCH INSERT INTO t (k, c, v) VALUES ({}, {}, {}); INSERT INTO t (k, c, v) VALUES "
                "({}, {}, {}); DELETE FROM t WHERE k = {} AND c = {} APPLY BATCH",
                k, c, v, (k + 1) % 4, c, v, (k + 2) % 4, c)};
        engines_.must(random(), statements[static_cast<size_t>(below(static_cast<int>(statements.size())))]);
        const int own = 100 + client;
        engines_.must(random(), fmt::format("INSERT INTO t (k, c, v) VALUES ({}, {}, {})", own, c, v + 50));
        EXPECT_EQ(engines_.rows(random(), fmt::format("SELECT c FROM w WHERE v = {} AND k = {} AND c = {}",
                                                      v + 50, own, c)),
                  Lines{std::to_string(c)});
      }
    });
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i)
    engines_.cluster.move(1 + static_cast<uint32_t>(random() % 6), random() % engines_.size());
  for (std::thread& client : clients) client.join();
  await_no_intents();
  expect_views_equal_base();
  EXPECT_FALSE(engines_.rows(0, "SELECT * FROM w").empty());
}

TEST_F(Views, AreBuiltWhileShardsMove) {
  start();
  engines_.must(0, "CREATE TABLE t (k int PRIMARY KEY, v int, x int)");
  for (int k = 0; k < 300; ++k)
    engines_.must(k, fmt::format("INSERT INTO t (k, v, x) VALUES ({}, {}, 1)", k, k % 5));
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    std::mt19937_64 random(5);
    for (int i = 0; !is_done && i < 3000; ++i) {
      const int k = static_cast<int>(random() % 400);
      engines_.must(random(), i % 3 == 0 ? fmt::format("DELETE FROM t WHERE k = {}", k)
                                         : fmt::format("INSERT INTO t (k, v) VALUES ({}, {})", k, i % 9));
    }
  });
  std::thread mover([&] {
    std::mt19937_64 random(3);
    for (int i = 0; i < 25; ++i)
      engines_.cluster.move(1 + static_cast<uint32_t>(random() % 6), random() % engines_.size());
  });
  engines_.must(2, create_view);
  mover.join();
  await_built("w");
  is_done = true;
  writer.join();
  await_no_intents();
  expect_views_equal_base();
  // The records of the build are gone once it is complete everywhere.
  await("no records", [&] { return count(1, engine::view_builds_table_id) == 0; });
}

// A shard moves while both its former and its next owner look for such records.
TEST_F(Views, RecordsOfBuildsAreErasedInShardsThatArriveLater) {
  start_with_view();
  await("no records", [&] { return count(1, engine::view_builds_table_id) == 0; });
  const uint32_t view = engines_.at(0).schema()->find_table("e", "w")->storage_id;
  for (const storage::EntryRun& run : engines_.at(0).store().entry_runs())
    for (size_t i = 0; i < engines_.size(); ++i) {
      const Bytes key = engine::view_build_key(view, run);
      if (!engines_.at(i).store().hold(key)) continue;
      storage::WriteSet writes;
      writes.put(key, {});
      ASSERT_TRUE(engines_.at(i).store().commit(std::move(writes)).has_value());
    }
  await("no records", [&] { return count(1, engine::view_builds_table_id) == 0; });
}

// The server that has written a base row dies before it has renewed the view row at its owner. The next owner
// of the base row renews it.
TEST_F(Views, AreRenewedByTheNextOwnerOfTheBaseRow) {
  start_with_view();
  const int k = key_at(0), old_v = key_at(1), new_v = key_at(1, old_v + 1);
  write(k, old_v);
  await_no_intents();
  engines_.loses_puts = true;
  const auto lost =
      engine::run_text(engines_.at(0), fmt::format("UPDATE t SET v = {} WHERE k = {}", new_v, k), "e");
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code(), base::ErrorCode::write_timeout) << lost.error().text();
  EXPECT_NE(lost.error().text().find("materialized views"), std::string::npos) << lost.error().text();
  EXPECT_EQ(engines_.rows(1, fmt::format("SELECT v FROM t WHERE k = {}", k)), Lines{std::to_string(new_v)});
  EXPECT_EQ(keys_with(old_v), Lines{std::to_string(k)});
  EXPECT_TRUE(keys_with(new_v).empty());
  EXPECT_EQ(count(1, engine::intents_table_id), 1u);
  engines_.close(0);
  for (uint32_t shard = 0; shard < 7; shard += 3) engines_.cluster.move(shard, 2);
  engines_.loses_puts = false;
  await_no_intents();
  EXPECT_EQ(keys_with(new_v), Lines{std::to_string(k)});
  EXPECT_TRUE(keys_with(old_v).empty());
  expect_views_equal_base();
}

// The owner of the view row moves while the answer to it is lost: the row is renewed a second time.
TEST_F(Views, MayBeRenewedTwice) {
  start_with_view();
  const int k = key_at(0), v = key_at(1);
  engines_.loses_put_answers = true;
  EXPECT_FALSE(
      engine::run_text(engines_.at(0), fmt::format("INSERT INTO t (k, v) VALUES ({}, {})", k, v), "e"));
  EXPECT_EQ(keys_with(v), Lines{std::to_string(k)});
  for (uint32_t shard = 1; shard < 7; shard += 3) engines_.cluster.move(shard, 2);
  engines_.loses_put_answers = false;
  await_no_intents();
  EXPECT_EQ(keys_with(v), Lines{std::to_string(k)});
  expect_views_equal_base();
}

// Rule 12. An intent that is applied long after others must not bring back what they have replaced or
// deleted.
TEST_F(Views, AnOldIntentBringsNothingBack) {
  start_with_view();
  const int k = key_at(0), v = key_at(1), other_v = key_at(1, v + 1), kept = key_at(0, k + 1);
  engines_.loses_puts = true;
  for (const int key : {k, kept})
    EXPECT_FALSE(engine::run_text(engines_.at(0),
                                  fmt::format("INSERT INTO t (k, v, x) VALUES ({}, {}, 1)", key, v), "e"));
  std::vector<std::pair<Bytes, Bytes>> old;
  {
    const auto intents = engines_.at(0).store().iterate(row::table_begin(engine::intents_table_id),
                                                        row::table_end(engine::intents_table_id));
    for (intents->seek_to_first(); intents->valid(); intents->next())
      old.emplace_back(intents->key(), intents->value());
  }
  ASSERT_EQ(old.size(), 2u);
  engines_.loses_puts = false;
  await_no_intents();
  EXPECT_EQ(keys_with(v).size(), 2u);
  const auto apply_again = [&] {
    for (const auto& [key, value] : old) {
      storage::WriteSet writes;
      writes.put(key, value);
      ASSERT_TRUE(engines_.at(0).store().commit(std::move(writes)).has_value());
    }
    await_no_intents();
    expect_views_equal_base();
  };
  engines_.must(0, fmt::format("UPDATE t SET v = {} WHERE k = {}", other_v, k));
  engines_.must(0, fmt::format("UPDATE t SET x = 2 WHERE k = {}", kept));
  apply_again();
  EXPECT_EQ(keys_with(v), Lines{std::to_string(kept)});
  EXPECT_EQ(keys_with(other_v), Lines{std::to_string(k)});
  EXPECT_EQ(engines_.rows(1, fmt::format("SELECT x FROM w WHERE v = {}", v)), Lines{"2"});
  engines_.must(0, fmt::format("DELETE FROM t WHERE k = {}", k));
  engines_.must(0, fmt::format("DELETE FROM t WHERE k = {}", kept));
  apply_again();
  EXPECT_TRUE(engines_.rows(1, "SELECT * FROM w").empty());
  // An intent of a view that does not exist any more.
  engines_.must(0, "DROP MATERIALIZED VIEW w");
  apply_again();
}

// A server whose lease may have expired could read a base row that another server has changed since.
TEST_F(Views, AreNotRenewedWithoutALease) {
  start_with_view();
  const int k = key_at(0), v = key_at(1);
  engines_.cluster.lose_lease(0, true);
  const int tickets = engines_.tickets, puts = engines_.puts;
  std::thread client([&] { write(k, v); });
  await("tickets", [&] { return engines_.tickets >= tickets + 3; });
  EXPECT_EQ(engines_.puts, puts);
  engines_.cluster.lose_lease(0, false);
  client.join();
  EXPECT_EQ(keys_with(v), Lines{std::to_string(k)});
}

TEST_F(Views, AreTruncatedAndAlteredWithTheirBase) {
  start_with_view();
  for (int k = 0; k < 40; ++k) write(k, k % 3);
  engines_.must(1, "TRUNCATE t");
  EXPECT_TRUE(engines_.rows(2, "SELECT * FROM w").empty());
  for (int k = 0; k < 10; ++k) write(k, 5);
  EXPECT_EQ(keys_with(5).size(), 10u);
  engines_.must(2, "ALTER TABLE t ADD y text");
  engines_.must(0, "UPDATE t SET y = 'new' WHERE k = 3");
  EXPECT_EQ(engines_.rows(1, "SELECT y FROM w WHERE v = 5 AND k = 3"), Lines{"new"});
  expect_views_equal_base();
}

// A server that does not know a new column yet would leave the column out of the view row.
TEST_F(Views, AreNotDerivedWithAnOldSchema) {
  start_with_view();
  const auto table_before = engines_.at(0).schema()->find_table("e", "t");
  const auto view_before = engines_.at(0).schema()->find_table("e", "w");
  engines_.must(2, "ALTER TABLE t ADD y text");
  engines_.must(0, "INSERT INTO t (k, v, x) VALUES (1, 2, 3)");
  const auto table = engines_.at(0).schema()->find_table("e", "t");
  const auto view = engines_.at(0).schema()->find_table("e", "w");
  const storage::Store& store = engines_.at(1).store();
  const auto first_of = [&](uint32_t id) {
    const auto records = store.iterate(row::table_begin(id), row::table_end(id));
    records->seek_to_first();
    return records->valid() ? std::pair(Bytes(records->key()), Bytes(records->value()))
                            : std::pair<Bytes, Bytes>();
  };
  const execute::ViewRow row{first_of(view->storage_id).first, first_of(table->storage_id).first};
  const auto derive = [&](const schema::TablePtr& of_view, const schema::TablePtr& of_table) {
    const execute::DerivedRow derived{row, of_view, of_table};
    auto records = execute::view_records(store, {&derived, 1});
    EXPECT_TRUE(records.has_value()) << records.error().text();
    return records ? std::move(*records) : execute::ViewRecords();
  };
  // The row has no value in the new column.
  EXPECT_FALSE(derive(view_before, table_before).needs_newer_schema);
  engines_.must(0, "UPDATE t SET y = 'new' WHERE k = 1");
  EXPECT_TRUE(derive(view_before, table_before).needs_newer_schema);
  const execute::ViewRecords now = derive(view, table);
  EXPECT_FALSE(now.needs_newer_schema);
  EXPECT_EQ(now.values, std::vector{std::optional(first_of(view->storage_id).second)});
  // The row is not in the view any more.
  engines_.must(0, "DELETE FROM t WHERE k = 1");
  EXPECT_EQ(derive(view, table).values, std::vector<std::optional<Bytes>>{std::nullopt});
}

// --- The order of puts

class Tickets : public testing::Test {
 protected:
  static Bytes key_of(const std::string& name, int64_t token = 0) {
    return row::row_record_key(row::partition_prefix(2000, token, name), {});
  }
  std::string value_of(const Bytes& key, size_t member) {
    Bytes value;
    const auto found = cluster_.at(member).store->get(key, value);
    EXPECT_TRUE(found.has_value()) << found.error().text();
    return found && *found ? value : "none";
  }
  uint64_t issue(ViewTickets& tickets, const Bytes& key) {
    const auto ticket = tickets.issue({key});
    EXPECT_TRUE(ticket.has_value()) << ticket.error().text();
    return ticket.value_or(0);
  }
  // Returns true if the put was accepted.
  bool put(ViewTickets& tickets, uint64_t ticket, const Bytes& key, std::optional<Bytes> value) {
    const auto refused = tickets.put(ticket, {{key, std::move(value)}});
    EXPECT_TRUE(refused.has_value()) << refused.error().text();
    return refused && refused->empty();
  }

  TestCluster cluster_{7, 2};
};

TEST_F(Tickets, AnEarlierOneNeverReplacesALaterOne) {
  cluster_.deal();
  const Bytes key = key_of("a");
  const size_t owner = cluster_.map().shard_of(key) % 2;
  ViewTickets tickets(*cluster_.at(owner).store);
  const uint64_t first = issue(tickets, key), second = issue(tickets, key), third = issue(tickets, key);
  EXPECT_TRUE(put(tickets, first, key, "first"));
  EXPECT_EQ(value_of(key, owner), "first");
  EXPECT_TRUE(put(tickets, third, key, std::nullopt));
  EXPECT_FALSE(put(tickets, second, key, "second"));
  EXPECT_FALSE(put(tickets, third, key, "third"));  // a copy of the message
  EXPECT_EQ(value_of(key, owner), "none");
  EXPECT_EQ(tickets.size(), 0u);
  // If several rows are put, only those that another server has renewed meanwhile are refused.
  const Bytes other = key_of("b");
  const auto both = tickets.issue({key, other});
  ASSERT_TRUE(both.has_value());
  EXPECT_TRUE(put(tickets, issue(tickets, other), other, "newer"));
  const auto refused = tickets.put(*both, {{key, "both"}, {other, "both"}});
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(*refused, std::vector<size_t>{1});
  EXPECT_EQ(value_of(key, owner), "both");
  EXPECT_EQ(value_of(other, owner), "newer");
}

TEST_F(Tickets, AreOfOneTenure) {
  cluster_.deal();
  const Bytes key = key_of("a");
  const uint32_t shard = cluster_.map().shard_of(key);
  const size_t owner = shard % 2, other = 1 - owner;
  ViewTickets here(*cluster_.at(owner).store), there(*cluster_.at(other).store);
  const uint64_t old = issue(here, key);
  EXPECT_TRUE(storage::is_not_here(there.issue({key}).error()));
  cluster_.move(shard, other);
  EXPECT_TRUE(storage::is_not_here(here.put(old, {{key, "old"}}).error()));
  EXPECT_FALSE(put(there, old, key, "old"));
  EXPECT_TRUE(put(there, issue(there, key), key, "new"));
  cluster_.move(shard, owner);
  EXPECT_FALSE(put(here, old, key, "old"));
  EXPECT_EQ(value_of(key, owner), "new");
  EXPECT_TRUE(put(here, issue(here, key), key, "newest"));
  EXPECT_EQ(value_of(key, owner), "newest");
}

TEST_F(Tickets, RowsOfSeveralShardsAreRefused) {
  cluster_.deal();
  ViewTickets tickets(*cluster_.at(0).store);
  for (const auto& keys : {std::vector<Bytes>{}, {key_of("a"), key_of("b", INT64_MAX)}, {"no record"}}) {
    const auto refused = tickets.issue(keys);
    ASSERT_FALSE(refused.has_value());
    EXPECT_FALSE(storage::is_not_here(refused.error()));
  }
}

}  // namespace
}  // namespace sibyl::cluster
