// Statements that run at the owners of their partitions, with calls between servers that fail in every way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "cluster/runtime/thread_executor.h"
#include "forwarding/forwarding_executor.h"
#include "forwarding/statement_service.h"
#include "hosting/test_engines.h"
#include "types/keys/murmur3.h"

namespace sibyl::cluster {
namespace {

using forwarding::ForwardingExecutor;
using forwarding::StatementAnswer;
using forwarding::StatementRequest;
using forwarding::StatementService;
using testing::HasSubstr;

// The fate of the next calls. Later calls are delivered.
enum class Fate { deliver, not_sent, lose_answer, lose_request };

// Delivers statements to the services of the members.
class StatementPeers final : public Peers {
 public:
  using Peers::call;
  void call(const MemberId& member, Method method, base::Bytes message, Time deadline, Reply reply) override {
    Fate fate = Fate::deliver;
    {
      const std::lock_guard lock(mutex_);
      if (!fates_.empty()) {
        fate = fates_.front();
        fates_.pop_front();
      }
    }
    ++calls;
    using Outcome = CallResult::Outcome;
    if (fate == Fate::not_sent) return reply({Outcome::not_sent, {}, "the test has not sent it"});
    if (fate == Fate::lose_request) return reply({Outcome::unknown, {}, "the test has lost the request"});
    auto answer = std::make_shared<std::promise<base::Bytes>>();
    const auto& handler = method == Method::define ? definitions.at(member) : statements.at(member);
    auto result = answer->get_future();
    handler({std::move(message), "test", deadline},
            [answer](base::Bytes bytes) { answer->set_value(std::move(bytes)); });
    base::Bytes bytes = result.get();
    if (fate == Fate::lose_answer) return reply({Outcome::unknown, {}, "the test has lost the answer"});
    reply({Outcome::answered, std::move(bytes), {}});
  }
  void expect(std::deque<Fate> fates) {
    const std::lock_guard lock(mutex_);
    fates_ = std::move(fates);
  }

  std::map<MemberId, PeerService::Handler> statements, definitions;
  std::atomic<int> calls = 0;

 private:
  std::mutex mutex_;
  std::deque<Fate> fates_;
};

class ForwardedStatements : public testing::Test {
 protected:
  static constexpr size_t members = 3;

  ForwardedStatements() {
    engines_.open_all();
    for (size_t i = 0; i < members; ++i) {
      TestMember& member = engines_.cluster.at(i);
      engine::Engine& engine = engines_.at(i);
      const auto reload = [&engine] { return engine.reload(); };
      services_.push_back(std::make_unique<StatementService>(
          StatementService::Parts{engine.local_executor(), engine.planner(), engine.schema_source(),
                                  engine.authenticator(), *member.shards, pool_, reload}));
      peers_.statements[member.id] = services_[i]->statements();
      peers_.definitions[member.id] = services_[i]->definitions();
      executors_.push_back(std::make_unique<ForwardingExecutor>(ForwardingExecutor::Parts{
          .here = engine.local_executor(),
          .planner = engine.planner(),
          .schema = engine.schema_source(),
          .clock = engine.clock(),
          .shards = *member.shards,
          .routing = *member.routing,
          .peers = peers_,
          .pool = pool_,
          .timers = timers_,
          .shard_of = [this](int64_t token) { return engines_.cluster.map().shard_of_token(token); },
          .reload = reload,
          .patience = patience}));
      engine.set_executor(*executors_[i]);
    }
    must(1, "CREATE KEYSPACE f WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must(2, "CREATE TABLE f.t (k int PRIMARY KEY, v int)");
    must(0, "CREATE TABLE f.c (k int PRIMARY KEY, n counter)");
  }
  ~ForwardedStatements() override { services_.clear(); }

  base::Result<execute::ResultSet> run(size_t member, const std::string& text) {
    return engine::run_text(engines_.at(member), text, "f");
  }
  std::string text_of(size_t member, const std::string& text) {
    const auto result = run(member, text);
    if (!result) return result.error().text();
    const auto lines = result->metadata ? engine::lines_of(*result) : std::vector<std::string>();
    return lines.empty() ? "" : lines[0];
  }
  void must(size_t member, const std::string& text) {
    const auto result = run(member, text);
    EXPECT_TRUE(result) << text << ": " << result.error().text();
  }
  // A key whose partition belongs to another server than `member`, and to this one.
  int key_elsewhere(size_t member) {
    return find_key([&](size_t owner) { return owner != member; });
  }
  int key_of(size_t member) {
    return find_key([&](size_t owner) { return owner == member; });
  }
  int find_key(const std::function<bool(size_t)>& fits, int from = 0) {
    for (int key = from;; ++key)
      if (fits(owner_of(key))) return key;
  }
  uint32_t shard_of(int key) {
    return engines_.cluster.map().shard_of_token(types::murmur3_token(types::encode_int32(key)));
  }
  size_t owner_of(int key) {
    const auto owner = engines_.cluster.at(0).routing->owner(shard_of(key));
    for (size_t i = 0; i < members; ++i)
      if (engines_.cluster.at(i).id == owner->member) return i;
    return members;
  }

  std::chrono::milliseconds patience{2'000};
  TestEngines engines_;
  StatementPeers peers_;
  ThreadExecutor timers_;
  forwarding::TaskPool pool_{4, 1000};
  std::vector<std::unique_ptr<StatementService>> services_;
  std::vector<std::unique_ptr<ForwardingExecutor>> executors_;
};

TEST_F(ForwardedStatements, RunWhereTheirPartitionsAre) {
  for (int key = 0; key < 40; ++key)
    must(key % members, fmt::format("INSERT INTO t (k, v) VALUES ({}, {})", key, key));
  const int before = peers_.calls;
  for (int key = 0; key < 40; ++key)
    for (size_t i = 0; i < members; ++i)
      EXPECT_EQ(text_of(i, fmt::format("SELECT v FROM t WHERE k = {}", key)), std::to_string(key));
  EXPECT_EQ(peers_.calls - before, 40 * (members - 1));  // the owner itself needs no call
  EXPECT_EQ(text_of(0, "SELECT count(*) FROM t"), "40");
  EXPECT_THAT(text_of(1, "INSERT INTO t (k, v) VALUES (7, 1) IF NOT EXISTS"), testing::EndsWith("|7|7"));
  EXPECT_EQ(text_of(0, "SELECT v FROM missing WHERE k = 1"), text_of(1, "SELECT v FROM missing WHERE k = 1"));
  // uuid() is another partition each time it runs.
  must(1, "CREATE TABLE f.u (k uuid PRIMARY KEY)");
  for (int i = 0; i < 12; ++i) must(i % members, "INSERT INTO u (k) VALUES (uuid())");
  EXPECT_EQ(text_of(2, "SELECT count(*) FROM u"), "12");
}

TEST_F(ForwardedStatements, AreRepeatedOnlyIfNothingWasExecuted) {
  const int key = key_elsewhere(0);
  const std::string add = fmt::format("UPDATE c SET n = n + 1 WHERE k = {}", key);
  const std::string read = fmt::format("SELECT n FROM c WHERE k = {}", key);
  peers_.expect({Fate::not_sent, Fate::not_sent});
  must(0, add);
  EXPECT_EQ(text_of(1, read), "1");
  peers_.expect({Fate::lose_answer});
  EXPECT_THAT(text_of(0, add), HasSubstr("may or may not have been applied"));
  EXPECT_EQ(text_of(1, read), "2");
  peers_.expect({Fate::lose_request});
  const auto unknown = run(0, add);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), base::ErrorCode::write_timeout);
  EXPECT_EQ(text_of(1, read), "2");
  // Reads are executed again.
  peers_.expect({Fate::lose_answer, Fate::lose_request, Fate::not_sent});
  EXPECT_EQ(text_of(0, read), "2");
  peers_.expect(std::deque<Fate>(1'000, Fate::not_sent));
  const auto unavailable = run(0, add);
  ASSERT_FALSE(unavailable);
  EXPECT_EQ(unavailable.error().code(), base::ErrorCode::unavailable);
  peers_.expect({});
  EXPECT_EQ(text_of(1, read), "2");
}

// The partition's shard moves after the write is durable, while its view row waits for the lease.
TEST_F(ForwardedStatements, DoNotKeepShardsWhileViewsFollow) {
  must(0, "CREATE TABLE f.b (k int PRIMARY KEY, v int)");
  must(
      0,
      "CREATE MATERIALIZED VIEW f.w AS SELECT * FROM b WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, "
      "k)");
  const size_t owner = 1, other = 2;
  const int key = key_of(owner);
  for (const size_t client : {owner, other}) {
    engines_.cluster.move(shard_of(key), owner);
    const int value = find_key([&](size_t has) { return has != owner; }, client == owner ? 0 : 1000);
    engines_.cluster.lose_lease(owner, true);
    const int tickets = engines_.tickets;
    auto written = std::async(std::launch::async, [&] {
      return run(client, fmt::format("INSERT INTO b (k, v) VALUES ({}, {})", key, value));
    });
    while (engines_.tickets == tickets) std::this_thread::yield();
    engines_.cluster.move(shard_of(key), 0);  // waits for those that hold the shard
    EXPECT_EQ(written.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    engines_.cluster.lose_lease(owner, false);
    const auto result = written.get();
    EXPECT_TRUE(result) << result.error().text();
    EXPECT_EQ(text_of(0, fmt::format("SELECT k FROM w WHERE v = {}", value)), std::to_string(key));
  }
}

// Rule 9.
TEST_F(ForwardedStatements, AReceiverThatIsNotTheOwnerExecutesNothing) {
  const size_t owner = 1;
  const int key = key_of(owner);
  const uint32_t shard = shard_of(key);
  const uint64_t epoch = *engines_.cluster.at(owner).shards->open_epoch(shard);
  const auto send = [&](size_t to, uint64_t with_epoch, const base::Bytes& version) {
    StatementRequest request;
    request.shards = {{shard, with_epoch}};
    request.schema_version = version;
    request.statements = {{"f", fmt::format("INSERT INTO t (k, v) VALUES ({}, 1)", key), "", {}}};
    const base::Bytes bytes = peers_
                                  .call(engines_.cluster.at(to).id, Method::execute, request.encode(),
                                        std::chrono::steady_clock::now() + std::chrono::seconds(60))
                                  .answer;
    return StatementAnswer::decode(bytes, nullptr)->outcome;
  };
  using Outcome = StatementAnswer::Outcome;
  const base::Bytes version = engines_.at(owner).schema()->version;
  EXPECT_EQ(send(owner, epoch - 1, version), Outcome::moved);
  EXPECT_EQ(send(owner, epoch + 1, version), Outcome::moved);
  EXPECT_EQ(send(2, epoch, version), Outcome::moved);
  EXPECT_EQ(send(owner, epoch, std::string(16, 'x')), Outcome::other_schema);
  EXPECT_EQ(text_of(0, fmt::format("SELECT v FROM t WHERE k = {}", key)), "");
  EXPECT_EQ(send(owner, epoch, version), Outcome::done);
  EXPECT_EQ(text_of(0, fmt::format("SELECT v FROM t WHERE k = {}", key)), "1");
  // A former owner: the shard moved and came back.
  engines_.cluster.move(shard, 2);
  EXPECT_EQ(send(owner, epoch, version), Outcome::moved);
  engines_.cluster.move(shard, owner);
  EXPECT_EQ(send(owner, epoch, version), Outcome::moved);
}

// Shards move all the time; every increment is applied once.
TEST_F(ForwardedStatements, FollowShardsThatMove) {
  std::atomic<bool> stop = false;
  std::thread mover([&] {
    for (uint32_t i = 0; !stop; ++i)
      engines_.cluster.move(1 + i % (engines_.cluster.map().count() - 1), i % members);
  });
  std::vector<std::thread> clients;
  for (size_t client = 0; client < members; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 60; ++i) must(client, fmt::format("UPDATE c SET n = n + 1 WHERE k = {}", i % 10));
    });
  for (std::thread& client : clients) client.join();
  stop = true;
  mover.join();
  for (int key = 0; key < 10; ++key)
    EXPECT_EQ(text_of(key % members, fmt::format("SELECT n FROM c WHERE k = {}", key)), "18");
}

TEST_F(ForwardedStatements, BatchesMayHaveSeveralOwners) {
  const auto run_batch = [&](cql::Batch::Kind kind, const std::string& text) {
    std::vector<execute::BatchItem> items;
    for (int key = 0; key < 12; ++key) {
      auto plan = engines_.at(0).planner().plan_query(fmt::format(fmt::runtime(text), key), "f");
      EXPECT_TRUE(plan) << plan.error().text();
      items.push_back({*plan, {}});
    }
    std::promise<base::Result<execute::ResultSet>> done;
    engines_.at(0).executor().execute_batch(kind, std::move(items), {},
                                            [&](auto result) { done.set_value(std::move(result)); });
    const auto result = done.get_future().get();
    EXPECT_TRUE(result) << result.error().text();
  };
  run_batch(cql::Batch::Kind::logged, "INSERT INTO t (k, v) VALUES ({}, 5)");
  EXPECT_EQ(text_of(1, "SELECT count(*) FROM t"), "12");
  run_batch(cql::Batch::Kind::unlogged, "UPDATE t SET v = 6 WHERE k = {}");
  for (int key = 0; key < 12; ++key)
    EXPECT_EQ(text_of(key % members, fmt::format("SELECT v FROM t WHERE k = {}", key)), "6");
  run_batch(cql::Batch::Kind::counter, "UPDATE c SET n = n + 1 WHERE k = {}");
  for (int key = 0; key < 12; ++key)
    EXPECT_EQ(text_of(key % members, fmt::format("SELECT n FROM c WHERE k = {}", key)), "1");
  must(2, "DELETE FROM t WHERE k IN (0, 1, 2, 3, 4, 5, 6, 7, 8)");
  EXPECT_EQ(text_of(0, "SELECT count(*) FROM t"), "3");
}

}  // namespace
}  // namespace sibyl::cluster
