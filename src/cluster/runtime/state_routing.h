// Routing by the states that the member of a server reads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "cluster/routing.h"
#include "cluster/state.h"

namespace sibyl::cluster {

class StateRouting final : public Routing {
 public:
  // `refresh` requests a newer state, which follow() receives later; `holds_lease` is
  // ServerMember::holds_lease(). Both are called on any thread.
  StateRouting(MemberId own, uint32_t shards, std::function<void()> refresh,
               std::function<bool()> holds_lease);

  // Uses a newer state.
  void follow(const State& state);

  uint32_t shard_count() const override { return shards_; }
  std::optional<ShardOwner> owner(uint32_t shard) const override;
  std::optional<ShardOwner> wait_for_owner(uint32_t shard, const std::optional<ShardOwner>& outdated,
                                           Time deadline) override;
  void refresh() override;
  bool may_answer() const override { return holds_lease_(); }
  std::vector<MemberId> others() const override;
  bool is_member(const MemberId& member) const override;

 private:
  // Immutable.
  struct Known {
    std::vector<std::optional<ShardOwner>> owners;  // by shard
    std::vector<MemberId> members;                  // sorted
  };
  std::shared_ptr<const Known> known() const;

  const MemberId own_;
  const uint32_t shards_;
  const std::function<void()> refresh_;
  const std::function<bool()> holds_lease_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::shared_ptr<const Known> known_ SIBYL_GUARDED_BY(mutex_);
  Time refreshed_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::cluster
