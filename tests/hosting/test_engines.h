// Engines of several servers over the shards that they share, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/test_result.h"
#include "hosting/test_cluster.h"
#include "storage/sharded_store.h"

namespace sibyl::cluster {

class TestEngines {
 public:
  explicit TestEngines(uint32_t shards = 7, size_t members = 3)
      : cluster(shards, members), engines_(members) {
    cluster.deal();
  }
  ~TestEngines() {
    for (size_t i = 0; i < size(); ++i) close(i);
  }

  engine::Options options;  // of engines that are opened from now on

  base::Status open(size_t member) {
    engine::Options own = options;
    own.data = "cluster";
    engine::SharedData& shared = own.shared.emplace();
    TestMember& of = cluster.at(member);
    shared.open_store = [this, &of]() -> base::Result<std::unique_ptr<storage::Store>> {
      return std::make_unique<RoutedStore>(
          RoutedStore::Parts{*of.shards, cluster.shared_map(), *of.routing, *of.peers});
    };
    shared.announce = [this, member](const base::Bytes& message) -> base::Status {
      for (size_t i = 0; i < engines_.size(); ++i)
        if (i != member && engines_[i]) SIBYL_TRY(engines_[i]->receive(message));
      return {};
    };
    shared.ask_owner = [this, &of](base::BytesView key, base::Bytes message) -> base::Result<base::Bytes> {
      if (loses_parts && message.starts_with('a'))
        return base::fail(base::ErrorCode::write_timeout, "lost by the test");
      if (message.starts_with('v')) ++tickets;
      if (!message.starts_with('w')) return of.owner_calls->ask(key, message);
      ++puts;
      if (loses_puts) return base::fail(base::ErrorCode::write_timeout, "lost by the test");
      auto answer = of.owner_calls->ask(key, message);
      if (loses_put_answers) return base::fail(base::ErrorCode::write_timeout, "lost by the test");
      return answer;
    };
    shared.may_answer = [&of] { return of.routing->may_answer(); };
    shared.host_id = base::Bytes(16, static_cast<char>('a' + member));
    if (member < clocks.size()) own.clock = clocks[member];
    SIBYL_ASSIGN(engines_[member], engine::Engine::open(own));
    of.receive = [engine = engines_[member].get()](base::BytesView message) {
      return engine->apply(message);
    };
    return {};
  }
  void open_all() {
    for (size_t i = 0; i < engines_.size(); ++i) {
      const base::Status opened = open(i);
      ASSERT_TRUE(opened.has_value()) << opened.error().text();
    }
  }
  void close(size_t member) {
    cluster.at(member).receive = nullptr;
    engines_[member].reset();
  }

  engine::Engine& at(size_t member) { return *engines_[member]; }
  size_t size() const { return engines_.size(); }

  // Runs the statement at this member. If the member does not have the shard, tries the others until one has
  // it.
  base::Result<execute::ResultSet> run(size_t member, const std::string& text,
                                       const execute::Request& request = {}) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (true) {
      for (size_t i = 0; i < size(); ++i) {
        auto result = engine::run_text(at((member + i) % size()), text, keyspace, request);
        if (result || !storage::is_not_here(result.error())) return result;
      }
      if (std::chrono::steady_clock::now() > deadline)
        return base::invalid("nobody has the shard of " + text);
    }
  }
  void must(size_t member, const std::string& text) {
    const auto result = run(member, text);
    ASSERT_TRUE(result.has_value()) << text << ": " << result.error().text();
  }
  std::vector<std::string> rows(size_t member, const std::string& text) {
    const auto result = run(member, text);
    EXPECT_TRUE(result.has_value()) << text << ": " << result.error().text();
    return result ? engine::lines_of(*result) : std::vector<std::string>{"failed"};
  }

  TestCluster cluster;
  std::string keyspace;
  std::atomic<bool> loses_parts = false;  // parts of batches do not reach other servers
  // Messages about view rows to other servers, or the answers to them, are lost.
  std::atomic<bool> loses_puts = false, loses_put_answers = false;
  std::atomic<int> tickets = 0, puts = 0;  // such messages so far
  std::vector<base::Clock*> clocks;        // of members; missing ones have the system's

 private:
  std::vector<std::unique_ptr<engine::Engine>> engines_;
};

}  // namespace sibyl::cluster
