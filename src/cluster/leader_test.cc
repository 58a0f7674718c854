#include "cluster/leader.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "storage/objects/memory/memory_objects.h"

namespace sibyl::cluster {
namespace {

using storage::objects::Blocking;
using storage::objects::MemoryObjects;
using storage::objects::Mutation;
using storage::objects::Reason;
using storage::objects::Reply;

// Applies planned changes to a stored state.
class LeaderTest : public testing::Test {
 protected:
  LeaderTest() {
    EXPECT_TRUE(blocking_.mutate(state_object, create_state({.shards = 4})).is_done());
    for (const char* name : {"a", "b"}) join(name, 1);
  }
  void join(const std::string& name, uint64_t incarnation, bool leaving = false) {
    Mutation join;
    join.set_entry(member_entry(name), Member{.incarnation = incarnation, .is_leaving = leaving}.encode());
    apply(join.set_attribute("tag", "join" + std::to_string(++tags_)));
  }
  void apply(const Mutation& mutation) { ASSERT_TRUE(blocking_.mutate(state_object, mutation).is_done()); }
  State state() {
    std::optional<base::Result<State>> result;
    read_state(*store_, [&](base::Result<State> state) { result = std::move(state); });
    return result.value().value();
  }
  std::vector<Shard> shards() { return state().shards; }
  std::optional<Mutation> plan(const std::string& name, const std::set<std::string>& expired = {}) {
    return plan_change(state(), {name, 1}, expired, "tag" + std::to_string(++tags_));
  }
  // Plans and applies one change. Returns false if there was none.
  bool lead(const std::string& name, const std::set<std::string>& expired = {}) {
    const auto change = plan(name, expired);
    if (change) apply(*change);
    return change.has_value();
  }
  std::map<std::string, size_t> shards_by_owner() {
    std::map<std::string, size_t> counts;
    for (const Shard& shard : shards()) ++counts[to_string(shard.owner)];
    return counts;
  }

  MemoryObjects objects_{{}};
  std::unique_ptr<storage::objects::ObjectStore> store_ = objects_.connect();
  Blocking blocking_{*store_};
  int tags_ = 0;
};

// A preparing member gets no shards: requests for them would wait until it can serve.
TEST_F(LeaderTest, AMemberThatIsPreparingGetsShardsOnlyIfThereIsNobodyElse) {
  const auto prepare = [&](const std::string& name, bool is_preparing) {
    apply(Mutation()
              .set_entry(member_entry(name), Member{.incarnation = 1, .is_preparing = is_preparing}.encode())
              .set_attribute("tag", "prepare" + std::to_string(++tags_)));
  };
  prepare("b", true);
  while (lead("a")) {
  }
  EXPECT_EQ(shards_by_owner(), (std::map<std::string, size_t>{{"a-1", 4}}));
  EXPECT_TRUE(std::ranges::all_of(shards(), [](const Shard& shard) { return shard.next.empty(); }));
  prepare("b", false);
  ASSERT_TRUE(lead("a"));
  EXPECT_EQ(std::ranges::count_if(shards(), [](const Shard& shard) { return shard.next == "b"; }), 2);
  // Now "b" is the only member. Later, it keeps its shards although it prepares again.
  prepare("b", true);
  ASSERT_TRUE(lead("b", {"a"}));
  EXPECT_EQ(shards_by_owner(), (std::map<std::string, size_t>{{"b-1", 4}}));
  join("c", 1);
  ASSERT_TRUE(lead("b"));
  EXPECT_EQ(std::ranges::count_if(shards(), [](const Shard& shard) { return shard.next == "c"; }), 2);
}

TEST_F(LeaderTest, TheFirstMemberLeadsAndAssignsAllShards) {
  ASSERT_TRUE(lead("a"));
  EXPECT_EQ(to_string(state().leader), "a-1");
  EXPECT_EQ(shards_by_owner(), (std::map<std::string, size_t>{{"a-1", 2}, {"b-1", 2}}));
  for (const Shard& shard : shards()) {
    EXPECT_EQ(shard.epoch, 1u);
    EXPECT_TRUE(shard.logs.empty());
  }
  EXPECT_FALSE(lead("a")) << "nothing is left to do";
  EXPECT_FALSE(lead("b")) << "b is not the leader";
  EXPECT_FALSE(plan_change(state(), {"stranger", 1}, {}, "t"));
}

TEST_F(LeaderTest, AnExpiredMemberIsRemovedAndItsLogsAreKeptUntilTheyAreReplayed) {
  ASSERT_TRUE(lead("a"));
  const State before = state();
  ASSERT_TRUE(lead("a", {"b"}));
  EXPECT_FALSE(state().members.contains("b"));
  for (size_t i = 0; i < 4; ++i) {
    const Shard old = before.shards[i], now = shards()[i];
    EXPECT_EQ(to_string(now.owner), "a-1");
    if (old.owner.name == "a") {
      EXPECT_EQ(now, old);
    } else {
      EXPECT_EQ(now.epoch, old.epoch + 1);
      EXPECT_EQ(now.logs, (std::vector<LogPart>{{{"b", 1}, old.epoch}}));
    }
  }
}

TEST_F(LeaderTest, AnotherMemberReplacesAnExpiredLeader) {
  ASSERT_TRUE(lead("a"));
  EXPECT_FALSE(plan("b"));
  ASSERT_TRUE(lead("b", {"a"}));
  EXPECT_EQ(to_string(state().leader), "b-1");
  EXPECT_EQ(shards_by_owner(), (std::map<std::string, size_t>{{"b-1", 4}}));
}

TEST_F(LeaderTest, ARestartedMemberDoesNotKeepTheShardsOfItsPredecessor) {
  ASSERT_TRUE(lead("a"));
  join("b", 2);
  ASSERT_TRUE(lead("a"));
  EXPECT_EQ(shards_by_owner(), (std::map<std::string, size_t>{{"a-1", 2}, {"b-2", 2}}));
  for (const Shard& shard : shards())
    if (shard.owner.name == "b") {
      EXPECT_EQ(shard.logs.size(), 1u);
    }
}

TEST_F(LeaderTest, ARenewalOrAnyOtherChangeRefusesAnOutdatedPlan) {
  ASSERT_TRUE(lead("a"));
  const auto removal = plan("a", {"b"});
  apply(Mutation().set_entry(member_entry("b"), Member{.incarnation = 1, .renewal = 1}.encode()));
  EXPECT_TRUE(blocking_.mutate(state_object, *removal).is_refused(Reason::mismatch));
  const auto second = plan("a", {"b"});
  join("c", 1);
  EXPECT_TRUE(blocking_.mutate(state_object, *second).is_refused(Reason::mismatch));
  const auto late = plan("a", {"b"});
  ASSERT_TRUE(lead("b", {"a"}));
  EXPECT_TRUE(blocking_.mutate(state_object, *late).is_refused(Reason::mismatch));
}

TEST_F(LeaderTest, ShardsMoveToANewMemberAndAwayFromOneThatLeaves) {
  ASSERT_TRUE(lead("a"));
  join("c", 1);
  ASSERT_TRUE(lead("a"));
  size_t moves = 0;
  for (const Shard& shard : shards()) moves += shard.next == "c" ? 1 : 0;
  EXPECT_EQ(moves, 1u);
  EXPECT_FALSE(lead("a")) << "it waits for the owner to hand over";
  join("b", 1, true);
  ASSERT_TRUE(lead("a"));
  for (const Shard& shard : shards()) {
    if (shard.owner.name == "b") {
      EXPECT_TRUE(shard.next == "a" || shard.next == "c");
    }
  }
}

TEST_F(LeaderTest, BalancingMovesAFewShardsAtATime) {
  MemoryObjects objects{{}};
  const auto store = objects.connect();
  State state{.settings = {.shards = 40}, .leader = {"a", 1}, .tag = "t"};
  state.members = {{"a", {.incarnation = 1}}, {"b", {.incarnation = 1}}};
  state.shards.assign(40, {.epoch = 1, .owner = {"a", 1}});
  const auto change = plan_change(state, {"a", 1}, {}, "u");
  ASSERT_TRUE(change);
  size_t moves = 0;
  for (const auto& action : change->actions()) moves += action.kind == Mutation::Kind::set_entry ? 1 : 0;
  EXPECT_EQ(moves, max_balancing_moves);
}

// A large cluster, simulated by the leader's plans alone: owners hand over shards at once.
class Growth : public testing::Test {
 protected:
  static constexpr size_t shard_count = 10'000, server_count = 100;

  Growth() {
    state_.settings.shards = shard_count;
    state_.shards.resize(shard_count);
    for (size_t i = 0; i < server_count; ++i) join(i);
    settle();
  }
  static std::string name_of(size_t i) { return "server-" + std::to_string(i); }
  void join(size_t i) { state_.members[name_of(i)] = {.incarnation = 1}; }
  // Applies plans until there is none. Returns the number of shards that changed their owner.
  size_t settle(const std::set<std::string>& expired = {}) {
    const std::vector<Shard> before = state_.shards;
    MemberId leader{name_of(0), 1};
    for (int rounds = 0; auto change = plan_change(state_, leader, expired, std::to_string(rounds));
         ++rounds) {
      EXPECT_LT(rounds, 1'000) << "it does not settle";
      for (const Mutation::Action& action : change->actions()) apply(action, leader);
      hand_over();
    }
    size_t moved = 0;
    for (size_t i = 0; i < shard_count; ++i) moved += before[i].owner != state_.shards[i].owner ? 1 : 0;
    return moved;
  }
  void apply(const Mutation::Action& action, const MemberId& leader) {
    if (action.kind == Mutation::Kind::set_attribute && action.name == "leader") state_.leader = leader;
    if (action.kind == Mutation::Kind::erase_entry) state_.members.erase(action.name.substr(7));
    if (action.kind == Mutation::Kind::set_entry && action.name.starts_with("shard/"))
      state_.shards[std::stoul(action.name.substr(6))] = Shard::decode(action.value).value();
  }
  void hand_over() {
    for (Shard& shard : state_.shards) {
      if (shard.next.empty()) continue;
      shard.owner = {shard.next, state_.members.at(shard.next).incarnation};
      ++shard.epoch;
      shard.next.clear();
    }
  }
  void expect_balance() {
    std::map<std::string, size_t> counts;
    for (const Shard& shard : state_.shards) ++counts[shard.owner.name];
    EXPECT_EQ(counts.size(), state_.members.size());
    for (const auto& [name, count] : counts) {
      EXPECT_GE(count, shard_count / state_.members.size());
      EXPECT_LE(count, shard_count / state_.members.size() + 1);
    }
  }

  State state_;
};

TEST_F(Growth, AServerThatJoinsOrLeavesMovesOnlyItsShareAndItSettles) {
  expect_balance();
  join(server_count);
  const size_t joined = settle();
  EXPECT_LE(joined, shard_count * 12 / 10 / (server_count + 1));
  EXPECT_GE(joined, shard_count / (server_count + 1));
  expect_balance();

  state_.members[name_of(17)].is_leaving = true;
  EXPECT_LE(settle(), shard_count * 12 / 10 / server_count);
  state_.members.erase(name_of(17));
  EXPECT_EQ(settle(), 0u);
  expect_balance();

  const size_t taken_over = settle({name_of(40)});  // this one died
  EXPECT_LE(taken_over, shard_count * 12 / 10 / (server_count - 1));
  expect_balance();
}

}  // namespace
}  // namespace sibyl::cluster
