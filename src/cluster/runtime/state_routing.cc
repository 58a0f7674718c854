#include "cluster/runtime/state_routing.h"

#include <algorithm>
#include <utility>

namespace sibyl::cluster {
namespace {

// The minimum time between requests for a newer state. One read of the state serves all waiting statements.
constexpr std::chrono::milliseconds refresh_pause{10};
// wait_for_owner() returns after this time even if nothing has changed.
constexpr std::chrono::milliseconds patience{20};

}  // namespace

StateRouting::StateRouting(MemberId own, uint32_t shards, std::function<void()> refresh,
                           std::function<bool()> holds_lease)
    : own_(std::move(own)),
      shards_(shards),
      refresh_(std::move(refresh)),
      holds_lease_(std::move(holds_lease)) {
  auto nothing = std::make_shared<Known>();
  nothing->owners.resize(shards);
  known_ = std::move(nothing);
}

void StateRouting::follow(const State& state) {
  auto newer = std::make_shared<Known>();
  newer->owners.resize(shards_);
  for (uint32_t shard = 0; shard < shards_ && shard < state.shards.size(); ++shard) {
    const Shard& entry = state.shards[shard];
    if (state.is_member(entry.owner))
      newer->owners[shard] = ShardOwner{entry.owner, entry.epoch, entry.owner == own_};
  }
  for (const auto& [name, member] : state.members) newer->members.push_back({name, member.incarnation});
  const base::MutexLock lock(mutex_);
  known_ = std::move(newer);
  changed_.notify_all();
}

std::shared_ptr<const StateRouting::Known> StateRouting::known() const {
  const base::MutexLock lock(mutex_);
  return known_;
}

std::optional<ShardOwner> StateRouting::owner(uint32_t shard) const {
  return known()->owners.at(shard);
}

std::optional<ShardOwner> StateRouting::wait_for_owner(uint32_t shard,
                                                       const std::optional<ShardOwner>& outdated,
                                                       Time deadline) {
  refresh();
  const Time until = std::min(deadline, std::chrono::steady_clock::now() + patience);
  const base::MutexLock lock(mutex_);
  while (known_->owners.at(shard) == outdated && changed_.wait_until(mutex_, until)) {
  }
  if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
  return known_->owners.at(shard);
}

void StateRouting::refresh() {
  const Time now = std::chrono::steady_clock::now();
  {
    const base::MutexLock lock(mutex_);
    if (now < refreshed_ + refresh_pause) return;
    refreshed_ = now;
  }
  refresh_();
}

std::vector<MemberId> StateRouting::others() const {
  std::vector<MemberId> others = known()->members;
  std::erase(others, own_);
  return others;
}

bool StateRouting::is_member(const MemberId& member) const {
  return std::ranges::binary_search(known()->members, member);
}

}  // namespace sibyl::cluster
