#include "cluster/leader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/placement.h"

namespace sibyl::cluster {

using storage::objects::Mutation;

namespace {

class Plan {
 public:
  Plan(const State& state, const std::set<std::string>& expired) : state_(state), shards_(state.shards) {
    for (const auto& [name, member] : state.members) {
      if (expired.contains(name)) continue;
      live_.emplace(name, member);
    }
    std::set<std::string> owners;
    for (const Shard& shard : shards_)
      if (is_live(shard.owner)) owners.insert(shard.owner.name);
    std::vector<std::string> preparing;
    for (const auto& [name, member] : live_) {
      if (member.is_leaving) continue;
      // A preparing member that got shards, because no other could, keeps some. Otherwise they would move
      // twice.
      const bool is_ready = !member.is_preparing || owners.contains(name);
      (is_ready ? candidates_ : preparing).push_back(name);
    }
    if (candidates_.empty()) candidates_ = std::move(preparing);
  }

  // Assigns and moves shards.
  void place() {
    if (candidates_.empty()) return;
    const auto targets = place_shards(expected_owners(), candidates_);
    size_t moves = 0;
    for (size_t i = 0; i < shards_.size(); ++i) moves += is_balancing(shards_[i]) ? 1 : 0;
    for (size_t i = 0; i < shards_.size(); ++i) {
      Shard& shard = shards_[i];
      if (!is_live(shard.owner))
        reassign(shard, targets[i]);
      else
        request_move(shard, targets[i], moves);
    }
  }

  // Adds the changed shards to the mutation. Returns true if a shard has changed.
  bool add_changes(Mutation& mutation) const {
    bool changed = false;
    for (uint32_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i] == state_.shards[i]) continue;
      mutation.set_entry(shard_entry(i), shards_[i].encode());
      changed = true;
    }
    return changed;
  }

 private:
  bool is_live(const MemberId& id) const {
    const auto found = live_.find(id.name);
    return found != live_.end() && found->second.incarnation == id.incarnation;
  }
  bool is_candidate(const std::string& name) const { return std::ranges::binary_search(candidates_, name); }
  // True while the shard moves between members that both stay.
  bool is_balancing(const Shard& shard) const {
    return !shard.next.empty() && is_candidate(shard.next) && is_candidate(shard.owner.name);
  }

  // The owner of each shard once all requested moves are complete.
  std::vector<std::string> expected_owners() const {
    std::vector<std::string> owners;
    for (const Shard& shard : shards_) {
      if (is_live(shard.owner) && is_candidate(shard.next))
        owners.push_back(shard.next);
      else
        owners.push_back(is_live(shard.owner) ? shard.owner.name : std::string());
    }
    return owners;
  }

  void reassign(Shard& shard, const std::string& target) const {
    if (!shard.owner.is_empty()) shard.logs.push_back({shard.owner, shard.epoch});
    ++shard.epoch;
    shard.owner = {target, live_.at(target).incarnation};
    shard.next.clear();
  }

  void request_move(Shard& shard, const std::string& target, size_t& moves) const {
    if (target == shard.owner.name) {
      shard.next.clear();
      return;
    }
    if (shard.next == target) return;
    const bool leaves = !is_candidate(shard.owner.name);
    if (!leaves && !is_balancing(shard)) {
      if (moves == max_balancing_moves) return;
      ++moves;
    }
    shard.next = target;
  }

  const State& state_;
  std::vector<Shard> shards_;
  std::map<std::string, Member> live_;
  std::vector<std::string> candidates_;  // live members that may get shards, in order
};

}  // namespace

std::optional<Mutation> plan_change(const State& state, const MemberId& self,
                                    const std::set<std::string>& expired, const std::string& tag) {
  const bool leads = state.leader == self;
  const bool leader_is_live = state.is_member(state.leader) && !expired.contains(state.leader.name);
  if (!state.is_member(self) || expired.contains(self.name)) return std::nullopt;
  if (!leads && leader_is_live) return std::nullopt;

  Mutation mutation;
  mutation.if_attribute("leader", state.leader.encode()).if_attribute("tag", state.tag);
  bool changes = !leads;
  if (!leads) mutation.set_attribute("leader", self.encode());
  for (const std::string& name : expired) {
    const auto member = state.members.find(name);
    if (member == state.members.end()) continue;
    mutation.if_entry(member_entry(name), member->second.encode()).erase_entry(member_entry(name));
    changes = true;
  }
  Plan plan(state, expired);
  plan.place();
  changes |= plan.add_changes(mutation);
  if (!changes) return std::nullopt;
  mutation.set_attribute("tag", tag).allow_when_full();
  return mutation;
}

}  // namespace sibyl::cluster
