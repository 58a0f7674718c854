#include "cluster/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace sibyl::cluster {
namespace {

using Names = std::vector<std::string>;

Names servers(size_t count) {
  Names names;
  for (size_t i = 0; i < count; ++i) names.push_back("server-" + std::to_string(i));
  return names;
}

size_t moved(const Names& before, const Names& after) {
  size_t count = 0;
  for (size_t i = 0; i < before.size(); ++i) count += before[i] != after[i] ? 1 : 0;
  return count;
}

TEST(Placement, ServersThatJoinAndLeaveMoveOnlyTheirShare) {
  constexpr size_t shards = 10'000;
  Names owners = place_shards(Names(shards), servers(100));
  const Names joined = place_shards(owners, servers(101));
  EXPECT_LE(moved(owners, joined), shards * 12 / 10 / 101);
  Names left = servers(101);
  left.erase(left.begin() + 17);
  EXPECT_LE(moved(joined, place_shards(joined, left)), shards * 12 / 10 / 100);
}

TEST(Placement, WithoutMembersNobodyOwnsAShard) {
  EXPECT_EQ(place_shards({"a", "b", ""}, {}), Names(3));
}

// Any owners, whether they are live or not, and any members.
RC_GTEST_PROP(PlacementProperties, IsBalancedSettledAndMovesNoMoreThanItMust, ()) {
  const Names members = servers(*rc::gen::inRange<size_t>(1, 12));
  const size_t shards = *rc::gen::inRange<size_t>(1, 200);
  Names owners;
  for (size_t i = 0; i < shards; ++i) {
    const size_t owner = *rc::gen::inRange<size_t>(0, members.size() + 3);
    owners.push_back(owner < members.size() ? members[owner] : owner == members.size() ? "" : "dead");
  }
  const Names placed = place_shards(owners, members);

  std::map<std::string, size_t> before, counts;
  for (const auto& member : members) before[member] = counts[member] = 0;
  for (const auto& owner : owners)
    if (before.contains(owner)) ++before[owner];
  for (const auto& owner : placed) {
    RC_ASSERT(counts.contains(owner));
    ++counts[owner];
  }
  size_t least_moves = shards;  // counts the shards that no live member can keep
  for (const auto& [member, count] : counts) {
    RC_ASSERT(count == shards / members.size() || count == shards / members.size() + 1);
    least_moves -= std::min(before[member], count);
  }
  RC_ASSERT(moved(owners, placed) == least_moves);
  RC_ASSERT(place_shards(placed, members) == placed);
}

}  // namespace
}  // namespace sibyl::cluster
