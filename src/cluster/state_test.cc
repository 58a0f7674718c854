#include "cluster/state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "storage/objects/memory/memory_objects.h"

namespace sibyl::cluster {
namespace {

using storage::objects::Blocking;
using storage::objects::MemoryObjects;
using storage::objects::Mutation;
using storage::objects::Reason;

TEST(State, EntriesDecodeToWhatWasEncoded) {
  const Shard shard{.epoch = 300, .owner = {"a", 7}, .next = "b", .logs = {{{"a", 6}, 298}, {{"c", 1}, 299}}};
  EXPECT_EQ(Shard::decode(shard.encode()).value(), shard);
  EXPECT_EQ(Shard::decode(Shard().encode()).value(), Shard());
  const Member member{.incarnation = 1ull << 40,
                      .renewal = 5,
                      .is_leaving = true,
                      .is_preparing = true,
                      .address = "[::1]:9042",
                      .peer_address = "[::1]:7000"};
  EXPECT_EQ(Member::decode(member.encode()).value(), member);
  // A later version may add fields. Guards compare whole entries, so unknown fields are kept.
  const std::string later = member.encode() + "more";
  ASSERT_TRUE(Member::decode(later));
  EXPECT_EQ(Member::decode(later)->peer_address, member.peer_address);
  EXPECT_EQ(Member::decode(later)->encode(), later);
  const Settings settings{
      .shards = 3, .lease = std::chrono::milliseconds(700), .secret = std::string("\0s", 2)};
  EXPECT_EQ(Settings::decode(settings.encode())->secret, settings.secret);
  EXPECT_EQ(MemberId::decode(MemberId{"x", 2}.encode()).value(), (MemberId{"x", 2}));
}

RC_GTEST_PROP(StateProperties, CutAndRandomEntriesAreRefusedOrDecoded, ()) {
  const auto bytes = *rc::gen::arbitrary<std::string>();
  if (const auto shard = Shard::decode(bytes)) RC_ASSERT(Shard::decode(shard->encode()).value() == *shard);
  if (const auto member = Member::decode(bytes))
    RC_ASSERT(Member::decode(member->encode()).value() == *member);
  const std::string whole =
      Shard{.epoch = 9, .owner = {"owner", 3}, .next = "n", .logs = {{{"l", 1}, 2}}}.encode();
  const auto length = *rc::gen::inRange<size_t>(0, whole.size());
  RC_ASSERT(!Shard::decode(whole.substr(0, length)));
}

TEST(State, ALogIsNeededWhileItsMemberLivesOrAShardNamesIt) {
  State state;
  state.logs = {{"live", 2}, {"live", 1}, {"owner", 1}, {"replayed", 1}, {"gone", 1}};
  state.members["live"].incarnation = 2;
  // The owner is dead, but no other member could take over its shard.
  state.shards = {{.epoch = 1, .owner = {"owner", 1}},
                  {.epoch = 3, .owner = {"live", 2}, .logs = {{{"replayed", 1}, 2}}}};
  EXPECT_EQ(state.unneeded_logs(), (std::vector<MemberId>{{"gone", 1}, {"live", 1}}));
}

class StoredStateTest : public testing::Test {
 protected:
  base::Result<State> read() {
    std::optional<base::Result<State>> result;
    read_state(*store_, [&](base::Result<State> state) { result = std::move(state); });
    return result.value();
  }
  std::string error() { return read().error().message(); }

  MemoryObjects objects_{{}};
  std::unique_ptr<storage::objects::ObjectStore> store_ = objects_.connect();
  Blocking blocking_{*store_};
};

TEST_F(StoredStateTest, IsCreatedOnceAndReadInPages) {
  EXPECT_EQ(error(), "There is no cluster in this pool");
  // There are more shards than one read of the store returns.
  ASSERT_TRUE(
      blocking_.mutate(state_object, create_state({.shards = 2'500, .lease = std::chrono::seconds(7)}))
          .is_done());
  EXPECT_TRUE(blocking_.mutate(state_object, create_state({})).is_refused(Reason::exists));
  Mutation owned;
  owned.set_entry(shard_entry(2'499), Shard{.epoch = 4, .owner = {"n", 1}}.encode());
  owned.set_entry(member_entry("n"), Member{.incarnation = 1}.encode());
  ASSERT_TRUE(blocking_.mutate(state_object, owned).is_done());

  const State state = read().value();
  EXPECT_EQ(state.settings.lease, std::chrono::seconds(7));
  ASSERT_EQ(state.shards.size(), 2'500u);
  EXPECT_EQ(state.shards[2'499].owner, (MemberId{"n", 1}));
  EXPECT_TRUE(state.shards[2'498].owner.is_empty());
  EXPECT_TRUE(state.is_member({"n", 1}));
  EXPECT_FALSE(state.is_member({"n", 2}));
}

TEST_F(StoredStateTest, DamagedAndForeignStatesAreRefused) {
  ASSERT_TRUE(blocking_.mutate(state_object, create_state({.shards = 3})).is_done());
  ASSERT_TRUE(blocking_.mutate(state_object, Mutation().erase_entry(shard_entry(1))).is_done());
  EXPECT_EQ(error(), "The state of the cluster is damaged: a shard is missing");
  ASSERT_TRUE(blocking_.mutate(state_object, Mutation().set_entry(shard_entry(1), "?")).is_done());
  EXPECT_EQ(error(), "The state of the cluster is damaged: a shard");
  ASSERT_TRUE(blocking_.mutate(state_object, Mutation().set_attribute("format", "1")).is_done());
  EXPECT_EQ(error(), "The state of the cluster has format '1'; this server reads '2'");
}

}  // namespace
}  // namespace sibyl::cluster
