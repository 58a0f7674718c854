// Servers in one process that share shards, for tests. The test decides which member owns which shard.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/routed/owner_calls.h"
#include "cluster/routed/routed_store.h"
#include "cluster/routed/store_service.h"
#include "storage/objects/memory/memory_objects.h"
#include "storage/rocksdb/shared/open_sharded_store.h"

namespace sibyl::cluster {

class TestCluster;

struct TestMember {
  MemberId id;
  std::unique_ptr<storage::objects::ObjectStore> client;
  std::unique_ptr<storage::ShardedStore> shards;
  std::unique_ptr<Routing> routing;
  std::unique_ptr<Peers> peers;
  std::unique_ptr<StoreService> service;
  std::unique_ptr<RoutedStore> store;
  std::unique_ptr<OwnerCalls> owner_calls;
  OwnerCalls::Receive receive;  // empty: calls of Method::commit do not arrive
  std::atomic<int> calls = 0;   // calls that it has answered
};

class TestCluster {
 public:
  explicit TestCluster(uint32_t shards, size_t members)
      : map_(std::make_shared<storage::TokenShards>(shards)), owners_(shards) {
    for (size_t i = 0; i < members; ++i) add();
  }

  TestMember& at(size_t i) { return *members_[i]; }
  size_t size() const { return members_.size(); }
  const storage::TokenShards& map() const { return *map_; }
  std::shared_ptr<const storage::ShardMap> shared_map() const { return map_; }

  // Gives a shard to a member: the former owner closes it.
  void move(uint32_t shard, size_t to) {
    std::optional<size_t> from;
    uint64_t epoch = 0;
    {
      const std::lock_guard lock(mutex_);
      if (owners_[shard].epoch != 0) from = owners_[shard].member;
      epoch = owners_[shard].epoch + 1;
    }
    if (from) {
      const auto closed = members_[*from]->shards->close_shard(shard);
      EXPECT_TRUE(closed.has_value()) << closed.error().text();
    }
    const auto opened = members_[to]->shards->open_shard(shard, epoch, {});
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    const std::lock_guard lock(mutex_);
    owners_[shard] = {to, epoch};
    changed_.notify_all();
  }
  // Gives the shards to the members in turn.
  void deal() {
    for (uint32_t shard = 0; shard < map_->count(); ++shard) move(shard, shard % members_.size());
  }
  void lose_lease(size_t member, bool lost) { lost_lease_ = lost ? member : members_.size(); }

  base::ManualClock store_clock{1'700'000'000'000'000};  // for compactions

 private:
  struct Owner {
    size_t member = 0;
    uint64_t epoch = 0;  // 0: none
  };

  class TestRouting final : public Routing {
   public:
    TestRouting(TestCluster& cluster, size_t own) : cluster_(cluster), own_(own) {}
    uint32_t shard_count() const override { return cluster_.map_->count(); }
    std::optional<ShardOwner> owner(uint32_t shard) const override {
      const std::lock_guard lock(cluster_.mutex_);
      return known(shard);
    }
    std::optional<ShardOwner> wait_for_owner(uint32_t shard, const std::optional<ShardOwner>& outdated,
                                             Time deadline) override {
      std::unique_lock lock(cluster_.mutex_);
      const auto pause = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      cluster_.changed_.wait_until(lock, std::min(deadline, pause), [&] { return known(shard) != outdated; });
      return std::chrono::steady_clock::now() < deadline ? known(shard) : std::nullopt;
    }
    bool may_answer() const override { return cluster_.lost_lease_ != own_; }
    std::vector<MemberId> others() const override {
      std::vector<MemberId> others;
      for (size_t i = 0; i < cluster_.members_.size(); ++i)
        if (i != own_) others.push_back(cluster_.members_[i]->id);
      return others;
    }
    bool is_member(const MemberId&) const override { return true; }

   private:
    std::optional<ShardOwner> known(uint32_t shard) const {
      const Owner& owner = cluster_.owners_[shard];
      if (owner.epoch == 0) return std::nullopt;
      return ShardOwner{cluster_.members_[owner.member]->id, owner.epoch, owner.member == own_};
    }
    TestCluster& cluster_;
    const size_t own_;
  };

  // Answers on the caller's thread.
  class TestPeers final : public Peers {
   public:
    explicit TestPeers(TestCluster& cluster) : cluster_(cluster) {}
    using Peers::call;
    void call(const MemberId& member, Method method, base::Bytes message, Time, Reply reply) override {
      CallResult result;
      for (const auto& each : cluster_.members_) {
        if (each->id != member) continue;
        ++each->calls;
        if (method == Method::commit && !each->receive) {
          result.outcome = CallResult::Outcome::not_sent;
          continue;
        }
        result.outcome = CallResult::Outcome::answered;
        result.answer = method == Method::commit ? each->owner_calls->answer(message, each->receive)
                                                 : each->service->answer(message);
      }
      reply(std::move(result));
    }

   private:
    TestCluster& cluster_;
  };

  void add() {
    auto member = std::make_unique<TestMember>();
    member->id = {"n" + std::to_string(members_.size()), 1};
    member->client = objects_.connect();
    storage::rocksdb::ShardedStoreOptions options;
    options.objects = member->client.get();
    options.shards = map_;
    options.log = to_string(member->id);
    options.patience = std::chrono::seconds(20);
    options.store.clock = &store_clock;
    auto shards = storage::rocksdb::open_sharded_store(std::move(options));
    ASSERT_TRUE(shards.has_value()) << shards.error().text();
    member->shards = std::move(*shards);
    member->routing = std::make_unique<TestRouting>(*this, members_.size());
    member->peers = std::make_unique<TestPeers>(*this);
    member->service = std::make_unique<StoreService>(*member->shards, *map_, *member->routing);
    member->store = std::make_unique<RoutedStore>(
        RoutedStore::Parts{*member->shards, map_, *member->routing, *member->peers});
    member->owner_calls = std::make_unique<OwnerCalls>(
        OwnerCalls::Parts{*member->shards, map_, *member->routing, *member->peers});
    members_.push_back(std::move(member));
  }

  storage::objects::MemoryObjects objects_{{}};
  const std::shared_ptr<const storage::TokenShards> map_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Owner> owners_;
  std::atomic<size_t> lost_lease_ = SIZE_MAX;
  std::vector<std::unique_ptr<TestMember>> members_;
};

}  // namespace sibyl::cluster
