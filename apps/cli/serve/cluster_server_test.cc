// Several servers of a cluster in one process, on objects in memory. tests/ceph runs them as processes on Ceph.
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
#include <string>
#include <thread>
#include <vector>

#include "cli/cluster/show.h"
#include "cli/cluster/storage.h"
#include "client/connection.h"
#include "cluster/state.h"
#include "protocol/response.h"
#include "storage/objects/memory/memory_objects.h"
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

// Waits for what another thread does. Fails the test after half a minute.
bool wait_for(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A server, and what became of it.
struct Started {
  std::unique_ptr<ClusterServer> server;
  uint16_t port = 0;
  std::atomic<bool> serves = false, has_left = false;
  std::mutex mutex;  // guards the two below
  std::string lost;
  std::vector<std::string> clients;  // names of its connections to the storage

  bool is_lost() {
    const std::lock_guard lock(mutex);
    return !lost.empty();
  }
};

class ClusterServerTest : public testing::Test {
 protected:
  static constexpr std::chrono::milliseconds lease{600};

  void create(uint32_t shards = 1) {
    const auto store = objects_.connect();
    const auto reply = storage::objects::Blocking(*store).mutate(
        cluster::state_object, cluster::create_state({.shards = shards, .lease = lease}));
    ASSERT_TRUE(reply.is_done());
  }

  ClusterServer::Options options(Started& started) {
    ClusterServer::Options options;
    options.configuration.cluster.storage = "rados:test";
    options.configuration.server.port = started.port;
    options.configuration.server.http_address.clear();
    options.connect = [this, &started]() -> base::Result<std::unique_ptr<ObjectStore>> {
      auto store = objects_.connect();
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

  std::unique_ptr<Started> start() {
    auto started = std::make_unique<Started>();
    started->port = free_port();
    auto server = ClusterServer::prepare(options(*started));
    EXPECT_TRUE(server) << server.error().text();
    if (!server) return started;
    started->server = std::move(*server);
    started->server->join();
    return started;
  }

  void set_cut_off(Started& started, bool cut_off) {
    const std::lock_guard lock(started.mutex);
    for (const std::string& client : started.clients) objects_.set_cut_off(client, cut_off);
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
  static void make_table(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(connection, "CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
  }

  MemoryObjects objects_{{}};
};

TEST_F(ClusterServerTest, OneServesAndTheOtherTakesOverWhenItLeaves) {
  create();
  const auto first = start();
  ASSERT_TRUE(wait_for([&] { return first->serves.load(); }));
  const auto second = start();
  const auto connection = connect(*first);
  ASSERT_NE(connection, nullptr);
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, v) VALUES (1, 'one')");
  EXPECT_FALSE(second->serves);

  first->server->leave();
  ASSERT_TRUE(wait_for([&] { return first->has_left && second->serves; }));
  EXPECT_FALSE(first->is_lost());
  const auto other = connect(*second);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(value(*other, "SELECT v FROM ks.t WHERE k = 1"), "one");
  second->server->leave();
  EXPECT_TRUE(wait_for([&] { return second->has_left.load(); }));
}

TEST_F(ClusterServerTest, AServerThatIsCutOffAnswersNoReadsOnceItsLeaseHasExpired) {
  create();
  const auto first = start();
  ASSERT_TRUE(wait_for([&] { return first->serves.load(); }));
  const auto connection = connect(*first);
  ASSERT_NE(connection, nullptr);
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, v) VALUES (1, 'one')");
  const auto second = start();
  EXPECT_EQ(value(*connection, "SELECT v FROM ks.t WHERE k = 1"), "one");

  set_cut_off(*first, true);
  ASSERT_TRUE(wait_for([&] { return second->serves.load(); }));
  const auto other = connect(*second);
  ASSERT_NE(other, nullptr);
  run(*other, "INSERT INTO ks.t (k, v) VALUES (1, 'two')");
  // The first server is still there, and has the old row.
  EXPECT_THAT(value(*connection, "SELECT v FROM ks.t WHERE k = 1"), HasSubstr("has lost its lease"));
  EXPECT_THAT(value(*connection, "INSERT INTO ks.t (k, v) VALUES (1, 'three') IF NOT EXISTS"),
              HasSubstr("has lost its lease"));
  EXPECT_EQ(value(*other, "SELECT v FROM ks.t WHERE k = 1"), "two");

  // It learns what happened as soon as it reaches the storage again.
  set_cut_off(*first, false);
  EXPECT_TRUE(wait_for([&] { return first->is_lost(); }));
}

// Shows the ports of a server and of the others: "own port, ports of the peers".
std::string shown(client::Connection& connection) {
  std::vector<std::string> ports;
  for (const char* text : {"SELECT rpc_port FROM system.local", "SELECT native_port FROM system.peers_v2"}) {
    auto result = connection.query(text);
    if (!result) return result.error().text();
    for (client::Row row; result->next(row);)
      ports.push_back(std::to_string(types::decode_integer(types::Kind::int_, *row[0])));
  }
  return fmt::format("{}", fmt::join(ports, ", "));
}

// Drivers see two servers, are told when one joins, and may use either.
TEST_F(ClusterServerTest, AStandbyRelaysItsClientsAndShowsItself) {
  create();
  const auto first = start();
  ASSERT_TRUE(wait_for([&] { return first->serves.load(); }));
  const auto direct = connect(*first);
  make_table(*direct);
  ASSERT_TRUE(direct->register_events({"TOPOLOGY_CHANGE", "STATUS_CHANGE"}));
  EXPECT_EQ(shown(*direct), std::to_string(first->port));
  const auto second = start();
  const auto joined = direct->next_event(std::chrono::seconds(30));
  ASSERT_TRUE(joined && *joined);
  const auto& change = std::get<protocol::NodeChange>(**joined);
  EXPECT_EQ(change.change, "NEW_NODE");
  EXPECT_EQ(change.port, second->port);
  EXPECT_EQ(shown(*direct), fmt::format("{}, {}", first->port, second->port));

  const auto relayed = connect(*second);
  ASSERT_NE(relayed, nullptr);
  EXPECT_EQ(shown(*relayed), fmt::format("{}, {}", second->port, first->port));
  EXPECT_EQ(value(*relayed, "SELECT host_id FROM system.local"), host_id_of(second->server->name()));
  EXPECT_EQ(value(*relayed, "SELECT tokens FROM system.local WHERE key = 'local'"),
            value(*direct, "SELECT tokens FROM system.peers_v2"));
  run(*relayed, "INSERT INTO ks.t (k, v) VALUES (1, 'one')");
  EXPECT_EQ(value(*direct, "SELECT v FROM ks.t WHERE k = 1"), "one");
  run(*direct, "CREATE TABLE ks.u (k int PRIMARY KEY)");
  EXPECT_EQ(value(*relayed, "SELECT schema_version FROM system.local"),
            value(*direct, "SELECT schema_version FROM system.local"));

  second->server->leave();
  for (const char* expected : {"UP", "DOWN", "REMOVED_NODE"}) {
    const auto event = direct->next_event(std::chrono::seconds(30));
    ASSERT_TRUE(event && *event) << expected;
    EXPECT_EQ(std::get<protocol::NodeChange>(**event).change, expected);
  }
  EXPECT_EQ(shown(*direct), std::to_string(first->port));
}

// The second server's clock is a minute behind. What it acknowledges must win nevertheless.
TEST_F(ClusterServerTest, ClocksThatDifferDoNotHideLaterWrites) {
  create();
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
    EXPECT_TRUE(wait_for([&] { return started->serves.load(); }));
    return started;
  };
  {
    const auto first = start_at(1'700'000'000'000'000);
    const auto connection = connect(*first);
    make_table(*connection);
    run(*connection, "INSERT INTO ks.t (k, v) VALUES (1, 'one')");
    first->server->leave();
    ASSERT_TRUE(wait_for([&] { return first->has_left.load(); }));
  }
  const auto second = start_at(1'699'999'940'000'000);
  const auto connection = connect(*second);
  run(*connection, "INSERT INTO ks.t (k, v) VALUES (1, 'two')");
  EXPECT_EQ(value(*connection, "SELECT v FROM ks.t WHERE k = 1"), "two");
}

// Each changes the state of the cluster while the others try to join.
TEST_F(ClusterServerTest, ServersThatStartTogetherAllJoin) {
  create();
  std::vector<std::unique_ptr<Started>> servers;
  for (int i = 0; i < 6; ++i) {
    servers.push_back(std::make_unique<Started>());
    servers.back()->port = free_port();
    auto server = ClusterServer::prepare(options(*servers.back()));
    ASSERT_TRUE(server) << server.error().text();
    servers.back()->server = std::move(*server);
  }
  for (const auto& started : servers) started->server->join();
  const auto store = objects_.connect();
  EXPECT_TRUE(wait_for([&] { return read_cluster_state(*store)->members.size() == servers.size(); }));
  for (const auto& started : servers) started->server->leave();
  EXPECT_TRUE(wait_for([&] {
    return std::ranges::all_of(servers, [](auto& s) { return s->has_left.load(); });
  })) << cluster_status_text(*cluster_status(*store, "rados:test"));
  for (const auto& started : servers) EXPECT_EQ(started->lost, "");
}

TEST_F(ClusterServerTest, AServerMayLeaveBeforeItHasJoined) {
  create();
  const auto first = start();
  first->server->leave();
  EXPECT_TRUE(wait_for([&] { return first->has_left.load(); }));
  EXPECT_FALSE(first->is_lost());
}

TEST_F(ClusterServerTest, StatusShowsServersAndShards) {
  create();
  const auto first = start();
  ASSERT_TRUE(wait_for([&] { return first->serves.load(); }));
  const auto second = start();
  const auto store = objects_.connect();
  ASSERT_TRUE(wait_for([&] { return read_cluster_state(*store)->members.size() == 2; }));
  const auto status = cluster_status(*store, "rados:test");
  ASSERT_TRUE(status) << status.error().text();
  const auto& servers = status->at("servers").as_array();
  ASSERT_EQ(servers.size(), 2u);
  int serving = 0, standby = 0;
  for (const auto& server : servers) {
    EXPECT_TRUE(server.at("renews").as_bool());
    serving += server.at("state").as_string() == "serving" ? 1 : 0;
    standby += server.at("state").as_string() == "standby" ? 1 : 0;
  }
  EXPECT_EQ(serving, 1);
  EXPECT_EQ(standby, 1);
  const auto& shard = status->at("shards").as_array().at(0).as_object();
  EXPECT_EQ(shard.at("owner").as_string(), first->server->name());
  EXPECT_GT(shard.at("files").to_number<int64_t>(), 0);
  EXPECT_THAT(cluster_status_text(*status), HasSubstr(first->server->address()));
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
  EXPECT_THAT(refusal(options(started)), HasSubstr("has 3 shards"));
  ClusterServer::Options without_port = options(started);
  without_port.configuration.server.port = 0;
  EXPECT_THAT(refusal(std::move(without_port)), HasSubstr("needs a fixed port"));
}

TEST_F(ClusterServerTest, ASecondServerOfTheSameNameIsRefused) {
  create();
  const auto first = start();
  Started again;
  again.port = first->port;
  const auto second = ClusterServer::prepare(options(again));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr(fmt::format(":{} runs on this machine", first->port)));
}

}  // namespace
}  // namespace sibyl::cli
