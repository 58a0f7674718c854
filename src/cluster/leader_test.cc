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

}  // namespace
}  // namespace sibyl::cluster
