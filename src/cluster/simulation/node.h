// A simulated server: membership and ownership as in a real one, with a small log and small shards.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cluster/log_collector.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "cluster/runtime/executor_store.h"
#include "cluster/simulation/node_executor.h"
#include "cluster/simulation/node_log.h"
#include "cluster/simulation/node_shards.h"
#include "cluster/simulation/node_views.h"
#include "cluster/simulation/requests.h"

namespace sibyl::cluster::simulation {

// One incarnation of a server. Destroying it is a crash.
class Node {
 public:
  struct Options {
    MemberId id;
    double clock_rate = 1;
    std::function<int64_t()> wall_clock;  // a clock in microseconds that may jump
    double max_drift = 0.01;
    Weakness weakness = Weakness::none;
    NodeViews::Send send;  // sends a message to another server, or to this one
  };
  struct Events {
    std::function<void()> on_removed, on_left;
    // Called when a read at this epoch is answered.
    std::function<void(uint32_t shard, uint64_t epoch)> on_read;
  };
  Node(std::unique_ptr<storage::objects::ObjectStore> store, base::Executor& world, const Options& options,
       Events events);

  // The owner of a key as this server knows it. Its name may be empty.
  std::string owner_of(Key key) const;
  // Executes the request if this server owns its key, and otherwise answers `moved`. A change of a base row
  // is done when its view rows have been renewed.
  void execute(Request request, Respond respond);
  void receive(const ViewMessage& message) { views_.receive(message); }
  // REQUIRES: this server has the shard of the key open.
  Value value_of(Key key) const {
    return shards_.value_of(key % static_cast<uint32_t>(membership_.state()->shards.size()), key);
  }
  void leave() { membership_.leave(); }
  void refresh() { membership_.refresh(); }

  NodeExecutor& executor() { return executor_; }
  std::string storage_client() const { return store_.client(); }
  const Membership& membership() const { return membership_; }
  const Ownership& ownership() const { return ownership_; }

 private:
  void answer(uint32_t shard, uint64_t epoch, bool is_read, Response response, Respond respond);
  Respond after_views(Key base, Respond respond);

  const Options options_;
  Events events_;
  NodeExecutor executor_;
  ExecutorStore store_;
  NodeLog log_;
  NodeShards shards_;
  Membership membership_;
  Ownership ownership_;
  LogCollector collector_;
  NodeViews views_;
};

}  // namespace sibyl::cluster::simulation
