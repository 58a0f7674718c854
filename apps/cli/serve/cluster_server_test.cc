// Several servers of a cluster in one process, on objects in memory. tests/ceph runs them as processes on
// Ceph.
#include "cli/serve/cluster_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/cluster/cluster_calls.h"
#include "cli/cluster/cluster_snapshots.h"
#include "cli/cluster/servers_status.h"
#include "cli/cluster/show.h"
#include "cli/cluster/storage.h"
#include "client/connection.h"
#include "cluster/state.h"
#include "protocol/response.h"
#include "storage/objects/memory/memory_objects.h"
#include "storage/rocksdb/shared/object_snapshots.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using storage::objects::MemoryObjects;
using storage::objects::ObjectStore;
using testing::HasSubstr;

uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

// Waits for a condition that another thread makes true. Fails the test after two minutes.
bool wait_for(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A server, and its events.
struct Started {
  uint16_t port = 0;
  std::atomic<bool> serves = false, has_left = false;
  std::mutex mutex;  // guards the two members below
  std::string lost;
  std::vector<std::string> clients;  // names of its connections to the storage
  // Declared last, so that it is destroyed first: its callbacks use the members above.
  std::unique_ptr<ClusterServer> server;

  bool is_lost() {
    const std::lock_guard lock(mutex);
    return !lost.empty();
  }
};

class ClusterServerTest : public testing::Test {
 protected:
  // Long enough that a server on a busy machine does not lose its lease.
  static constexpr std::chrono::milliseconds lease{5'000};

  void create(uint32_t shards) {
    shards_ = shards;
    const auto store = objects_.connect();
    const auto reply = storage::objects::Blocking(*store).mutate(
        cluster::state_object, cluster::create_state({.shards = shards, .lease = lease, .secret = "secret"}));
    ASSERT_TRUE(reply.is_done());
  }

  ClusterServer::Options options(Started& started) { return options(started, objects_); }
  static ClusterServer::Options options(Started& started, MemoryObjects& objects) {
    ClusterServer::Options options;
    options.configuration.cluster.storage = "rados:test";
    options.configuration.server.port = started.port;
    options.configuration.server.http_address.clear();
    options.connect = [&objects, &started]() -> base::Result<std::unique_ptr<ObjectStore>> {
      auto store = objects.connect();
      const std::lock_guard lock(started.mutex);
      started.clients.push_back(store->client());
      return store;
    };
    options.events.on_serving = [&started](const std::string&) { started.serves = true; };
    options.events.on_left = [&started] { started.has_left = true; };
    options.events.on_lost = [&started](const std::string& why) {
      const std::lock_guard lock(started.mutex);
      if (started.lost.empty()) started.lost = why;
    };
    return options;
  }

  std::unique_ptr<Started> start() { return start(objects_); }
  static std::unique_ptr<Started> start(MemoryObjects& objects, uint16_t port = free_port()) {
    auto started = std::make_unique<Started>();
    started->port = port;
    auto server = ClusterServer::prepare(options(*started, objects));
    EXPECT_TRUE(server) << server.error().text();
    if (!server) return started;
    started->server = std::move(*server);
    started->server->join();
    return started;
  }
  // Waits until all shards are spread evenly over the servers.
  void settle(const std::vector<Started*>& servers) {
    EXPECT_TRUE(wait_for([&] {
      size_t all = 0;
      for (Started* server : servers) {
        const size_t open = server->server->open_shards();
        if (!server->serves || open < shards_ / servers.size()) return false;
        all += open;
      }
      return all == shards_;
    })) << cluster_status_text(*cluster_status(*objects_.connect(), "rados:test"));
  }
  std::vector<std::unique_ptr<Started>> start_many(size_t count) {
    std::vector<std::unique_ptr<Started>> servers;
    std::vector<Started*> all;
    for (size_t i = 0; i < count; ++i) {
      servers.push_back(start());
      all.push_back(servers.back().get());
    }
    settle(all);
    return servers;
  }

  void set_cut_off(Started& started, bool cut_off) { set_cut_off(objects_, started, cut_off); }
  static void set_cut_off(MemoryObjects& objects, Started& started, bool cut_off) {
    const std::lock_guard lock(started.mutex);
    for (const std::string& client : started.clients) objects.set_cut_off(client, cut_off);
  }

  static std::unique_ptr<client::Connection> connect(const Started& started) {
    client::Options options;
    options.port = started.port;
    auto connection = client::Connection::connect(options);
    EXPECT_TRUE(connection) << connection.error().text();
    return connection ? std::move(*connection) : nullptr;
  }
  static void run(client::Connection& connection, const std::string& text) {
    const auto result = connection.query(text);
    EXPECT_TRUE(result) << text << ": " << result.error().text();
  }
  // The first column of the first row, as text; "none" without rows.
  static std::string value(client::Connection& connection, const std::string& text) {
    auto result = connection.query(text);
    if (!result) return result.error().text();
    client::Row row;
    return result->next(row) && row[0] ? std::string(*row[0]) : "none";
  }
  static int64_t number(client::Connection& connection, const std::string& text, types::Kind kind) {
    const std::string bytes = value(connection, text);
    EXPECT_TRUE(bytes.size() == 4 || bytes.size() == 8) << bytes;
    return bytes.size() == 4 || bytes.size() == 8 ? types::decode_integer(kind, bytes) : -1;
  }
  static void make_table(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(connection, "CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
  }
  static std::string insert(int key, const std::string& v) {
    return fmt::format("INSERT INTO ks.t (k, v) VALUES ({}, '{}')", key, v);
  }
  static std::string select(int key) { return fmt::format("SELECT v FROM ks.t WHERE k = {}", key); }

  uint32_t shards_ = 0;
  MemoryObjects objects_{{}};
};

// Every statement works at every server, wherever its partitions are.
TEST_F(ClusterServerTest, SeveralServersServeOneDatabase) {
  create(8);
  const auto servers = start_many(3);
  std::vector<std::unique_ptr<client::Connection>> clients;
  for (const auto& server : servers) clients.push_back(connect(*server));
  make_table(*clients[1]);
  run(*clients[2], "CREATE TABLE ks.counts (k int PRIMARY KEY, n counter)");
  constexpr int keys = 30;
  for (int key = 0; key < keys; ++key) run(*clients[key % 3], insert(key, std::to_string(key)));
  for (int key = 0; key < keys; ++key)
    for (const auto& client : clients) EXPECT_EQ(value(*client, select(key)), std::to_string(key));
  for (const auto& client : clients)
    EXPECT_EQ(number(*client, "SELECT count(*) FROM ks.t", types::Kind::bigint), keys);

  // Each of these conditions is true once, whichever server evaluates it.
  for (int key = 100; key < 110; ++key) {
    const std::string text = fmt::format("INSERT INTO ks.t (k, v) VALUES ({}, 'x') IF NOT EXISTS", key);
    int applied = 0;
    for (const auto& client : clients) applied += value(*client, text) == std::string(1, '\1') ? 1 : 0;
    EXPECT_EQ(applied, 1);
  }
  for (int round = 0; round < 4; ++round)
    for (const auto& client : clients) run(*client, "UPDATE ks.counts SET n = n + 1 WHERE k = 5");
  for (const auto& client : clients)
    EXPECT_EQ(number(*client, "SELECT n FROM ks.counts WHERE k = 5", types::Kind::counter), 12);

  // Prepared at one server, and run for partitions of all servers.
  auto prepared = clients[0]->prepare("SELECT v FROM ks.t WHERE k = ?");
  ASSERT_TRUE(prepared) << prepared.error().text();
  for (int key = 0; key < keys; ++key) {
    const base::Bytes bytes = types::encode_int32(key);
    auto result = clients[0]->execute(*prepared, std::vector{types::ValueView::of(bytes)});
    ASSERT_TRUE(result) << result.error().text();
    client::Row row;
    ASSERT_TRUE(result->next(row));
    EXPECT_EQ(*row[0], std::to_string(key));
  }

  // When a definition returns, all servers know it.
  run(*clients[0], "ALTER TABLE ks.t ADD w int");
  for (const auto& client : clients) EXPECT_EQ(value(*client, "SELECT w FROM ks.t WHERE k = 1"), "none");
  run(*clients[2], "TRUNCATE ks.t");
  for (const auto& client : clients)
    EXPECT_EQ(number(*client, "SELECT count(*) FROM ks.t", types::Kind::bigint), 0);
  EXPECT_THAT(value(*clients[1], "SELECT v FROM ks.missing WHERE k = 1"), HasSubstr("does not exist"));
}

TEST_F(ClusterServerTest, BatchesMayHavePartitionsOfAllServers) {
  create(8);
  const auto servers = start_many(2);
  const auto client = connect(*servers[0]);
  make_table(*client);
  run(*client, fmt::format("BEGIN BATCH {}; {}; APPLY BATCH", insert(1, "a"), insert(1, "b")));
  EXPECT_EQ(value(*client, select(1)), "b");
  std::string several = "BEGIN BATCH";
  for (int key = 0; key < 20; ++key) several += " " + insert(key, "x") + ";";
  run(*client, several + " APPLY BATCH");
  for (int key = 0; key < 20; ++key) EXPECT_EQ(value(*client, select(key)), "x");
  run(*client, "CREATE TABLE ks.c (k int PRIMARY KEY, n counter)");
  std::string counters = "BEGIN COUNTER BATCH";
  for (int key = 0; key < 20; ++key) counters += fmt::format(" UPDATE ks.c SET n = n + 1 WHERE k = {};", key);
  EXPECT_THAT(value(*client, counters + " APPLY BATCH"), HasSubstr("several servers"));
}

TEST_F(ClusterServerTest, OthersTakeOverWhatAServerLeaves) {
  create(6);
  auto servers = start_many(3);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 30; ++key) run(*client, insert(key, "before"));
  // The server that holds the catalogue leaves. No statement is refused meanwhile.
  size_t meta = 0;
  const cluster::State state = *read_cluster_state(*objects_.connect());
  while (servers[meta]->server->name() != state.shards[0].owner.name) ++meta;
  const auto other = connect(*servers[(meta + 1) % 3]);
  servers[meta]->server->leave();
  for (int key = 0; !servers[meta]->has_left; ++key) run(*other, insert(key % 30, "during"));
  EXPECT_FALSE(servers[meta]->is_lost());
  EXPECT_EQ(servers[meta]->server->open_shards(), 0u);
  for (int key = 0; key < 30; ++key)
    EXPECT_THAT(value(*other, select(key)), testing::AnyOf("before", "during"));
  run(*other, "CREATE TABLE ks.u (k int PRIMARY KEY)");
}

TEST_F(ClusterServerTest, OthersTakeOverFromAServerThatDies) {
  create(6);
  auto servers = start_many(3);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 60; ++key) run(*client, insert(key, "before"));
  set_cut_off(*servers[2], true);  // its data in memory is only in its log
  for (int key = 0; key < 60; ++key) EXPECT_EQ(value(*client, select(key)), "before");
  settle({servers[0].get(), servers[1].get()});
  const auto other = connect(*servers[1]);
  for (int key = 0; key < 60; ++key) {
    EXPECT_EQ(value(*other, select(key)), "before");
    run(*other, insert(key, "after"));
    EXPECT_EQ(value(*client, select(key)), "after");
  }
  run(*client, "CREATE TABLE ks.u (k int PRIMARY KEY)");
  set_cut_off(*servers[2], false);
  EXPECT_TRUE(wait_for([&] { return servers[2]->is_lost(); }));
}

TEST_F(ClusterServerTest, AServerThatIsCutOffAnswersNoReadsOnceItsLeaseHasExpired) {
  create(1);
  const auto first = start();
  settle({first.get()});
  const auto connection = connect(*first);
  ASSERT_NE(connection, nullptr);
  make_table(*connection);
  run(*connection, insert(1, "one"));
  const auto second = start();
  ASSERT_TRUE(wait_for([&] { return second->serves.load(); }));
  EXPECT_EQ(value(*connection, select(1)), "one");

  set_cut_off(*first, true);
  const auto other = connect(*second);
  ASSERT_TRUE(wait_for([&] { return second->server->open_shards() == 1; }));
  run(*other, insert(1, "two"));
  // The first server still runs, and has the old row.
  EXPECT_THAT(value(*connection, select(1)), HasSubstr("lost its lease"));
  EXPECT_EQ(value(*other, select(1)), "two");

  // The first server learns that it was removed as soon as it reaches the storage again.
  set_cut_off(*first, false);
  EXPECT_TRUE(wait_for([&] { return first->is_lost(); }));
}

// Returns the ports that a server shows: its own, and the ports of the others.
std::vector<int64_t> shown(client::Connection& connection) {
  std::vector<int64_t> ports;
  for (const char* text : {"SELECT rpc_port FROM system.local", "SELECT native_port FROM system.peers_v2"}) {
    auto result = connection.query(text);
    EXPECT_TRUE(result) << result.error().text();
    for (client::Row row; result && result->next(row);)
      ports.push_back(types::decode_integer(types::Kind::int_, *row[0]));
  }
  return ports;
}

// The number of tokens in the first row.
size_t token_count(client::Connection& connection, const char* table) {
  auto result = connection.query(fmt::format("SELECT tokens FROM system.{}", table));
  client::Row row;
  if (!result || !result->next(row) || !row[0]) return 0;
  return static_cast<size_t>(types::decode_integer(types::Kind::int_, row[0]->substr(0, 4)));
}

TEST_F(ClusterServerTest, DriversSeeServersAndTheirTokens) {
  create(7);
  const auto first = start();
  settle({first.get()});
  const auto client = connect(*first);
  ASSERT_TRUE(client->register_events({"TOPOLOGY_CHANGE", "STATUS_CHANGE"}));
  EXPECT_EQ(shown(*client), std::vector<int64_t>{first->port});
  EXPECT_TRUE(wait_for([&] { return token_count(*client, "local") == 6; }));
  const auto second = start();
  const auto joined = client->next_event(std::chrono::seconds(30));
  ASSERT_TRUE(joined && *joined);
  const auto& change = std::get<protocol::NodeChange>(**joined);
  EXPECT_EQ(change.change, "NEW_NODE");
  EXPECT_EQ(change.port, second->port);
  settle({first.get(), second.get()});
  EXPECT_EQ(shown(*client), (std::vector<int64_t>{first->port, second->port}));
  EXPECT_TRUE(wait_for([&] {
    return token_count(*client, "local") + token_count(*client, "peers_v2") == 6 &&
           token_count(*client, "peers") >= 2;
  }));
  const auto other = connect(*second);
  EXPECT_EQ(shown(*other), (std::vector<int64_t>{second->port, first->port}));
  EXPECT_EQ(value(*other, "SELECT host_id FROM system.local"), host_id_of(second->server->name()));
  EXPECT_EQ(value(*other, "SELECT schema_version FROM system.local"),
            value(*client, "SELECT schema_version FROM system.local"));

  second->server->leave();
  for (const char* expected : {"UP", "DOWN", "REMOVED_NODE"}) {
    const auto event = client->next_event(std::chrono::seconds(30));
    ASSERT_TRUE(event && *event) << expected;
    EXPECT_EQ(std::get<protocol::NodeChange>(**event).change, expected);
  }
  EXPECT_EQ(shown(*client), std::vector<int64_t>{first->port});
}

// The second server's clock is a minute behind. Its acknowledged writes must win nevertheless.
TEST_F(ClusterServerTest, ClocksThatDifferDoNotHideLaterWrites) {
  create(4);
  base::ManualClock clock(1'700'000'000'000'000);
  const auto start_at = [&](int64_t micros) {
    clock.set_micros(micros);
    auto started = std::make_unique<Started>();
    started->port = free_port();
    ClusterServer::Options with_clock = options(*started);
    with_clock.configuration.engine.clock = &clock;
    auto server = ClusterServer::prepare(std::move(with_clock));
    EXPECT_TRUE(server) << server.error().text();
    started->server = std::move(*server);
    started->server->join();
    settle({started.get()});
    return started;
  };
  {
    const auto first = start_at(1'700'000'000'000'000);
    const auto connection = connect(*first);
    make_table(*connection);
    run(*connection, insert(1, "one"));
    first->server->leave();
    ASSERT_TRUE(wait_for([&] { return first->has_left.load(); }));
  }
  const auto second = start_at(1'699'999'940'000'000);
  const auto connection = connect(*second);
  run(*connection, insert(1, "two"));
  EXPECT_EQ(value(*connection, select(1)), "two");
}

// Each server changes the state of the cluster while the others try to join.
TEST_F(ClusterServerTest, ServersThatStartTogetherAllServe) {
  create(5);
  std::vector<std::unique_ptr<Started>> servers;
  for (int i = 0; i < 4; ++i) {
    servers.push_back(std::make_unique<Started>());
    servers.back()->port = free_port();
    auto server = ClusterServer::prepare(options(*servers.back()));
    ASSERT_TRUE(server) << server.error().text();
    servers.back()->server = std::move(*server);
  }
  for (const auto& started : servers) started->server->join();
  settle({servers[0].get(), servers[1].get(), servers[2].get(), servers[3].get()});
  for (const auto& started : servers) started->server->leave();
  EXPECT_TRUE(wait_for([&] {
    return std::ranges::all_of(servers, [](auto& s) { return s->has_left.load(); });
  })) << cluster_status_text(*cluster_status(*objects_.connect(), "rados:test"));
  for (const auto& started : servers) EXPECT_EQ(started->lost, "");
}

TEST_F(ClusterServerTest, AServerMayLeaveBeforeItHasJoined) {
  create(2);
  const auto first = start();
  first->server->leave();
  EXPECT_TRUE(wait_for([&] { return first->has_left.load(); }));
  EXPECT_FALSE(first->is_lost());
}

// The first servers are destroyed at different moments of joining.
TEST_F(ClusterServerTest, AServerMayBeDestroyedWhileItJoins) {
  create(2);
  for (int i = 0; i < 12; ++i) {
    const auto started = start();
    std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
  }
  const auto last = start();
  settle({last.get()});
  EXPECT_FALSE(last->is_lost());
}

TEST_F(ClusterServerTest, StatusShowsServersAndShards) {
  create(4);
  const auto servers = start_many(2);
  const auto store = objects_.connect();
  const auto status = cluster_status(*store, "rados:test");
  ASSERT_TRUE(status) << status.error().text();
  const auto& shown_servers = status->at("servers").as_array();
  ASSERT_EQ(shown_servers.size(), 2u);
  int64_t records = 0;
  for (const auto& server : shown_servers) {
    EXPECT_TRUE(server.at("renews").as_bool());
    EXPECT_EQ(server.at("state").as_string(), "serving");
    EXPECT_EQ(server.at("shards").to_number<int64_t>(), 2);
    EXPECT_GE(server.at("log").at("last_segment").to_number<int64_t>(), 0);
    records += server.at("log").at("sequence").to_number<int64_t>();
  }
  EXPECT_GT(records, 0);  // the catalogue was created
  ASSERT_EQ(status->at("shards").as_array().size(), 4u);
  const auto& shard = status->at("shards").as_array().at(0).as_object();
  EXPECT_GT(shard.at("files").to_number<int64_t>(), 0);
  EXPECT_THAT(cluster_status_text(*status), HasSubstr(servers[0]->server->address()));
}

// The console of a server shows what the observer returns.
TEST_F(ClusterServerTest, AnObserverShowsLogsTokensAndSilentServers) {
  create(5);
  const auto servers = start_many(2);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 20; ++key) run(*client, insert(key, "x"));
  const auto store = objects_.connect();
  ClusterObserver observer(*store, "rados:test", servers[0]->server->name());
  const auto first = observer.observe();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->at("own").as_string(), servers[0]->server->name());
  const auto& shards = first->at("shards").as_array();
  EXPECT_EQ(shards.at(0).at("first_token").as_string(), "");
  EXPECT_EQ(shards.at(1).at("first_token").as_string(), "-9223372036854775808");
  EXPECT_EQ(shards.at(4).at("last_token").as_string(), "9223372036854775807");
  int64_t records = 0;
  ASSERT_EQ(first->at("logs").as_array().size(), 2u);
  for (const auto& log : first->at("logs").as_array()) {
    EXPECT_NE(log.at("server").as_string(), "");
    EXPECT_FALSE(log.at("is_sealed").as_bool());
    EXPECT_GT(log.at("bytes").to_number<int64_t>(), 0);
    records += log.at("sequence").to_number<int64_t>();
  }
  EXPECT_GE(records, 20);

  // A server that stops renewing its lease becomes silent, and is then gone. Its log is sealed when others
  // have replayed it.
  set_cut_off(*servers[1], true);
  const std::string stopped = servers[1]->server->name();
  const auto longest_silence = [&](const std::string& name) {
    const auto status = observer.observe();
    int64_t silence = -1;
    if (!status) return silence;
    for (const auto& server : status->at("servers").as_array())
      if (server.at("name").as_string() == name) silence = server.at("silent_ms").to_number<int64_t>();
    return silence;
  };
  EXPECT_TRUE(wait_for([&] { return longest_silence(stopped) > lease.count() / 2; }));
  EXPECT_LT(longest_silence(servers[0]->server->name()), lease.count());
  EXPECT_TRUE(wait_for([&] { return longest_silence(stopped) < 0; }));
  set_cut_off(*servers[1], false);
}

// --- Operators' commands

TEST_F(ClusterServerTest, FlushAndCompactReachEveryShardAlthoughTheyMove) {
  create(6);
  auto servers = start_many(2);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 60; ++key) run(*client, insert(key, "x"));
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  const auto unflushed_shards = [&] {
    uint64_t shards = 0;
    const auto status = servers_status(**calls);
    EXPECT_TRUE(status) << status.error().text();
    for (const auto& server : status->at("servers").as_array())
      shards += server.at("log").at("shards").to_number<uint64_t>();
    return shards;
  };
  EXPECT_GE(unflushed_shards(), 5u);
  const base::Status flushed = (*calls)->run_on_shards("flush", {});
  ASSERT_TRUE(flushed) << flushed.error().text();
  EXPECT_TRUE(wait_for([&] { return unflushed_shards() == 0; }));

  // Half of the shards move to another server while the build runs.
  servers.push_back(start());
  const base::Status compacted = (*calls)->run_on_shards("compact", {{"table", "ks.t"}});
  EXPECT_TRUE(compacted) << compacted.error().text();
  settle({servers[0].get(), servers[1].get(), servers[2].get()});
  for (int key = 0; key < 60; ++key) EXPECT_EQ(value(*client, select(key)), "x");
  const base::Status wrong = (*calls)->run_on_shards("compact", {{"table", "ks.none"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "Table 'ks.none' does not exist");
}

TEST_F(ClusterServerTest, StatusAddsUpWhatServersCount) {
  create(4);
  const auto servers = start_many(2);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 40; ++key) run(*client, insert(key, "x"));
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  const auto status = servers_status(**calls);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->at("statements").at("insert").at("count").to_number<uint64_t>(), 40u);
  // About half of the partitions are at the other server.
  EXPECT_GT(status->at("forwarded").to_number<uint64_t>(), 5u);
  EXPECT_LT(status->at("forwarded").to_number<uint64_t>(), 40u);
  std::set<int64_t> shards;
  for (const auto& server : status->at("servers").as_array())
    for (const auto& shard : server.at("shards").as_array()) {
      EXPECT_TRUE(shards.insert(shard.at("shard").to_number<int64_t>()).second);
      EXPECT_GT(shard.at("disk_bytes").to_number<int64_t>() + shard.at("memtable_bytes").to_number<int64_t>(),
                0);
    }
  EXPECT_EQ(shards, (std::set<int64_t>{0, 1, 2, 3}));
  const auto& table = status->at("tables").as_array().at(0);
  EXPECT_EQ(table.at("table").as_string(), "t");
  EXPECT_EQ(table.at("partitions").to_number<int64_t>(), 40);
  EXPECT_THAT(servers_status_text(*status), HasSubstr("ks.t"));
}

// Each server counts what runs there. The tables show the sum, which includes servers that have stopped
// since.
TEST_F(ClusterServerTest, StatisticsAreOfAllServersAndSurviveThem) {
  create(5);
  auto servers = start_many(2);
  const auto counted = [](client::Connection& client, const std::string& column, const std::string& rest) {
    return number(client, fmt::format("SELECT {} FROM system_views.{}", column, rest), types::Kind::bigint);
  };
  const std::string of_table = "table_statistics WHERE keyspace_name = 'ks' AND table_name = 't'";
  const std::string of_shape = "query_shapes WHERE keyspace_name = 'ks'";
  {
    const auto client = connect(*servers[0]);
    make_table(*client);
    for (int key = 0; key < 40; ++key) run(*client, insert(key, "x"));
    EXPECT_EQ(counted(*client, "partitions", of_table), 40);
    // About half of the statements were executed at the other server.
    EXPECT_LT(counted(*client, "writes", of_table), 40);
    servers[1]->server->leave();
    ASSERT_TRUE(wait_for([&] { return servers[1]->has_left.load(); }));
    EXPECT_EQ(counted(*client, "writes", of_table), 40);
    EXPECT_EQ(counted(*client, "calls", of_shape), 40);
    for (int key = 0; key < 10; ++key) run(*client, insert(key, "y"));
    EXPECT_EQ(counted(*client, "writes", of_table), 50);
  }
  const uint16_t port = servers[1]->port;
  servers.pop_back();
  servers.push_back(start(objects_, port));
  settle({servers[0].get(), servers[1].get()});
  servers[0]->server->leave();
  ASSERT_TRUE(wait_for([&] { return servers[0]->has_left.load(); }));
  const auto client = connect(*servers[1]);
  EXPECT_EQ(counted(*client, "writes", of_table), 50);
  EXPECT_EQ(counted(*client, "calls", of_shape), 50);
  EXPECT_EQ(counted(*client, "partitions", of_table), 40);
}

// Runs statements of one client on all servers, one after another, until it is destroyed.
class Writer {
 public:
  Writer(std::vector<std::unique_ptr<client::Connection>> clients,
         std::function<std::string(int number)> statement)
      : clients_(std::move(clients)), statement_(std::move(statement)), thread_([this] { write(); }) {}
  ~Writer() {
    is_stopping_ = true;
    thread_.join();
  }
  // Writes with smaller numbers were acknowledged.
  int acknowledged() const { return acknowledged_; }
  std::string error() const { return has_failed_ ? error_ : ""; }

 private:
  void write() {
    for (int number = 0; !is_stopping_; ++number) {
      const auto done = clients_[static_cast<size_t>(number) % clients_.size()]->query(statement_(number));
      if (!done) {
        error_ = done.error().text();
        has_failed_ = true;
        return;
      }
      acknowledged_ = number + 1;
    }
  }

  const std::vector<std::unique_ptr<client::Connection>> clients_;
  const std::function<std::string(int number)> statement_;
  std::atomic<int> acknowledged_ = 0;
  std::atomic<bool> is_stopping_ = false, has_failed_ = false;
  std::string error_;
  std::thread thread_;
};

// Clients of the server continue while it leaves. At the end it closes their connections, but no request
// fails before.
TEST_F(ClusterServerTest, AServerThatLeavesCompletesWhatItHasBegun) {
  create(6);
  const auto servers = start_many(3);
  {
    const auto client = connect(*servers[0]);
    make_table(*client);
    run(*client,
        "CREATE MATERIALIZED VIEW ks.w AS SELECT k, v FROM ks.t WHERE k IS NOT NULL AND v IS NOT NULL "
        "PRIMARY "
        "KEY (v, k)");
  }
  std::vector<std::unique_ptr<Writer>> clients;
  for (int client = 0; client < 8; ++client) {
    std::vector<std::unique_ptr<client::Connection>> connections;
    connections.push_back(connect(*servers[1]));
    clients.push_back(std::make_unique<Writer>(std::move(connections), [client](int number) {
      const int key = client * 100 + number % 100;
      return number % 2 == 0 ? insert(key, fmt::format("{}-{}", client, number)) : select(key);
    }));
  }
  ASSERT_TRUE(wait_for([&] {
    return std::ranges::all_of(clients, [](const auto& client) { return client->acknowledged() > 5; });
  }));
  const auto began = std::chrono::steady_clock::now();
  servers[1]->server->leave();
  ASSERT_TRUE(wait_for([&] { return servers[1]->has_left.load(); }));
  // Requests that wait in vain end after ten seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(8));
  for (const auto& client : clients) {
    ASSERT_TRUE(wait_for([&] { return !client->error().empty(); }));
    EXPECT_THAT(client->error(),
                testing::Not(testing::AnyOf(HasSubstr("timed out"), HasSubstr("lost its lease"),
                                            HasSubstr("Cannot achieve consistency"))));
  }
}

std::set<int64_t> keys_of(client::Connection& connection, const std::string& text) {
  std::set<int64_t> keys;
  auto result = connection.query(text);
  EXPECT_TRUE(result) << result.error().text();
  for (client::Row row; result && result->next(row);)
    keys.insert(types::decode_integer(types::Kind::int_, *row[0]));
  return keys;
}

// One client writes partitions of all servers one after another: a snapshot of one moment has all of them up
// to some number. Another one writes logged batches over several servers: the restored cluster has each of
// them completely or not at all.
TEST_F(ClusterServerTest, ASnapshotIsOfOneMomentAndBecomesAnotherCluster) {
  create(7);
  const auto servers = start_many(3);
  const auto connections = [&] {
    std::vector<std::unique_ptr<client::Connection>> all;
    for (const auto& server : servers) all.push_back(connect(*server));
    return all;
  };
  const auto client = connect(*servers[0]);
  make_table(*client);
  run(*client, "CREATE TABLE ks.batches (k int PRIMARY KEY, v text)");
  run(*client, "CREATE INDEX ON ks.t (v)");
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  int acknowledged = 0;
  {
    const Writer sequence(connections(), [](int number) { return insert(number, "s"); });
    const Writer batches(connections(), [](int number) {
      return fmt::format(
          "BEGIN BATCH INSERT INTO ks.batches (k, v) VALUES ({0}, ''); INSERT INTO ks.batches (k, v) VALUES "
          "({1}, ''); INSERT INTO ks.batches (k, v) VALUES ({2}, ''); APPLY BATCH",
          3 * number, 3 * number + 1, 3 * number + 2);
    });
    for (const char* name : {"first", "second"}) {
      const int before = sequence.acknowledged(), batches_before = batches.acknowledged();
      ASSERT_TRUE(wait_for([&] {
        return !sequence.error().empty() || !batches.error().empty() ||
               (sequence.acknowledged() > before + 50 && batches.acknowledged() > batches_before + 5);
      }));
      acknowledged = sequence.acknowledged();
      const auto taken = take_cluster_snapshot(**calls, name);
      ASSERT_TRUE(taken) << taken.error().text();
      EXPECT_EQ(taken->shards.size(), 7u);
    }
    EXPECT_EQ(sequence.error(), "");
    EXPECT_EQ(batches.error(), "");
  }
  const auto again = take_cluster_snapshot(**calls, "first");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message(), "Snapshot first exists already");

  // Later changes of the cluster do not reach the snapshot.
  run(*client, "TRUNCATE ks.t");
  ASSERT_TRUE((*calls)->run_on_shards("compact", {}));
  const auto store = objects_.connect();
  const auto snapshot = storage::rocksdb::read_object_snapshot(*store, "second");
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->tables.size(), 2u);
  const auto intact = storage::rocksdb::verify_object_snapshot(*store, *snapshot);
  EXPECT_TRUE(intact) << intact.error().text();

  MemoryObjects other{{}};
  const auto restored_store = other.connect();
  const auto restored = restore_cluster_snapshot(*store, *snapshot, *restored_store, "rados:other");
  ASSERT_TRUE(restored) << restored.error().text();
  EXPECT_THAT(restore_cluster_snapshot(*store, *snapshot, *restored_store, "rados:other").error().text(),
              HasSubstr("rados:other has a cluster already"));
  // The log of a server that dies in the restored cluster must be replayed, although the files name positions
  // in logs of the former cluster.
  const auto first = start(other);
  settle({first.get()});
  const auto writer = connect(*first);
  for (int key = 0; key < 20; ++key) run(*writer, insert(1'000'000 + key, "late"));
  set_cut_off(other, *first, true);
  const auto second = start(other);
  const auto reader = [&] {
    EXPECT_TRUE(wait_for([&] { return second->serves.load(); }));
    return connect(*second);
  }();
  ASSERT_NE(reader, nullptr);
  std::set<int64_t> expected;
  const std::set<int64_t> found = keys_of(*reader, "SELECT k FROM ks.t WHERE v = 's'");
  for (int64_t key = 0; key < static_cast<int64_t>(found.size()); ++key) expected.insert(key);
  EXPECT_EQ(found, expected);
  EXPECT_GE(found.size(), static_cast<size_t>(acknowledged));
  EXPECT_EQ(keys_of(*reader, "SELECT k FROM ks.t WHERE v = 'late'").size(), 20u);
  // A batch that was under way is completed after some seconds.
  const auto batches_are_whole = [&] {
    const std::set<int64_t> keys = keys_of(*reader, "SELECT k FROM ks.batches");
    return !keys.empty() && std::ranges::all_of(keys, [&](int64_t key) {
      const int64_t begin = key / 3 * 3;
      return keys.contains(begin) && keys.contains(begin + 1) && keys.contains(begin + 2);
    });
  };
  EXPECT_TRUE(wait_for(batches_are_whole));
  set_cut_off(other, *first, false);
  EXPECT_TRUE(wait_for([&] { return first->is_lost(); }));
}

TEST_F(ClusterServerTest, ClearedSnapshotsGiveTheirSpaceBack) {
  create(4);
  const auto servers = start_many(2);
  const auto client = connect(*servers[0]);
  make_table(*client);
  for (int key = 0; key < 50; ++key) run(*client, insert(key, std::string(10'000, 'x')));
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  ASSERT_TRUE(take_cluster_snapshot(**calls, "old"));
  run(*client, "TRUNCATE ks.t");
  ASSERT_TRUE((*calls)->run_on_shards("flush", {}));
  ASSERT_TRUE((*calls)->run_on_shards("compact", {}));
  const auto store = objects_.connect();
  const auto names_of_snapshot = [&] {
    size_t count = 0;
    for (const std::string& name : objects_.names())
      count += name.find("snapshot-old") != std::string::npos ? 1 : 0;
    return count;
  };
  EXPECT_GT(names_of_snapshot(), 4u);
  const uint64_t before = objects_.bytes_used();
  const auto cleared = storage::rocksdb::clear_object_snapshot(*store, "old");
  ASSERT_TRUE(cleared) << cleared.error().text();
  EXPECT_EQ(names_of_snapshot(), 0u);
  EXPECT_LT(objects_.bytes_used() + 5'000, before);
  EXPECT_TRUE(storage::rocksdb::list_object_snapshots(*store)->empty());
  EXPECT_THAT(storage::rocksdb::clear_object_snapshot(*store, "old").error().text(),
              HasSubstr("There is no snapshot old"));
}

TEST_F(ClusterServerTest, DamagedAndIncompleteSnapshotsAreNotRestored) {
  create(3);
  const auto server = start();
  settle({server.get()});
  const auto client = connect(*server);
  make_table(*client);
  run(*client, insert(1, "x"));
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  const auto taken = take_cluster_snapshot(**calls, "one");
  ASSERT_TRUE(taken) << taken.error().text();
  const auto store = objects_.connect();
  storage::objects::Blocking blocking(*store);
  // One byte of a file changes.
  const std::string block = [&] {
    for (const std::string& name : objects_.names())
      if (name.starts_with("file/snapshot-one/")) return name;
    return std::string();
  }();
  ASSERT_NE(block, "");
  storage::objects::Mutation damage;
  damage.write(3, "!");
  ASSERT_TRUE(blocking.mutate(block, damage).is_done());
  const auto verified = storage::rocksdb::verify_object_snapshot(*store, *taken);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().text(), HasSubstr("has the checksum"));
  MemoryObjects other{{}};
  const auto target = other.connect();
  EXPECT_FALSE(restore_cluster_snapshot(*store, *taken, *target, "rados:other"));
  EXPECT_FALSE(read_cluster_state(*target));

  ASSERT_TRUE(storage::rocksdb::begin_object_snapshot(*store, "two", 3));
  EXPECT_THAT(storage::rocksdb::read_object_snapshot(*store, "two").error().text(),
              HasSubstr("Snapshot two is not complete"));
  EXPECT_TRUE(storage::rocksdb::clear_object_snapshot(*store, "two"));
  EXPECT_THAT(storage::rocksdb::begin_object_snapshot(*store, "../x", 3).error().text(),
              HasSubstr("is not a valid snapshot name"));
}

// A program that dies in the middle of a snapshot must not stop the cluster.
TEST_F(ClusterServerTest, AnAbandonedSnapshotHoldsNothingUp) {
  create(3);
  const auto server = start();
  settle({server.get()});
  const auto client = connect(*server);
  make_table(*client);
  const auto calls = ClusterCalls::over(objects_.connect());
  ASSERT_TRUE(calls) << calls.error().text();
  const auto state = (*calls)->read_state();
  const cluster::MemberId member = *serving_members(*state).begin();
  const auto step = [&](const char* command, const char* id) {
    const auto done = (*calls)->call(member, command, {{"id", id}, {"name", "x"}}, std::chrono::seconds(60));
    return done ? std::string("done") : done.error().message();
  };
  ASSERT_EQ(step("snapshot stop", "a"), "done");
  EXPECT_EQ(step("snapshot stop", "b"), "Another snapshot is being taken");
  EXPECT_EQ(step("snapshot cut", "b"), "The snapshot took too long, or was dropped");
  run(*client, insert(1, "x"));  // waits until the server resumes by itself
  EXPECT_EQ(step("snapshot cut", "a"), "Commits resumed before all shards were in files");
  EXPECT_EQ(step("snapshot stop", "c"), "done");
  EXPECT_EQ(step("snapshot drop", "c"), "done");
  run(*client, insert(2, "x"));
  ASSERT_EQ(step("snapshot stop", "d"), "done");
  ASSERT_EQ(step("snapshot cut", "d"), "done");
  server->server->leave();  // the server can leave once the attempt has expired
  EXPECT_TRUE(wait_for([&] { return server->has_left.load(); }));
}

TEST_F(ClusterServerTest, WhatCannotServeIsRefusedAtOnce) {
  Started started;
  started.port = free_port();
  const auto refusal = [&](ClusterServer::Options options) {
    const auto server = ClusterServer::prepare(std::move(options));
    return server ? "accepted" : server.error().text();
  };
  EXPECT_THAT(refusal(options(started)), HasSubstr("There is no cluster in this pool"));
  create(3);
  ClusterServer::Options without_port = options(started);
  without_port.configuration.server.port = 0;
  EXPECT_THAT(refusal(std::move(without_port)), HasSubstr("needs a fixed port"));
}

TEST_F(ClusterServerTest, ASecondServerOfTheSameNameIsRefused) {
  create(2);
  const auto first = start();
  Started again;
  again.port = first->port;
  const auto second = ClusterServer::prepare(options(again));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr(fmt::format(":{} runs on this machine", first->port)));
}

}  // namespace
}  // namespace sibyl::cli
