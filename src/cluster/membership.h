// One server's membership in a cluster: it joins, renews its lease, observes the others, acts as the leader
// when it is elected, and leaves.
//
// Leases depend only on the clocks of the members:
//
//  1. A member holds its lease for the duration `lease` by its own clock, counted from before it sent its
//     last successful renewal.
//  2. An observer considers a lease expired when the renewal has not changed for `lease` plus the drift
//     allowance by its own clock, counted from after the observer read it.
//  3. Expired members are removed by a mutation that is guarded by that same renewal. So a renewal and a
//     removal exclude each other, and a member is removed only after it has stopped relying on its lease.
//
// The clock must keep running while the process is stopped or the machine sleeps (CLOCK_BOOTTIME). Two
// members' clocks must not differ in speed by more than `max_drift`. They may show different times.
//
// Leases protect reads. Writes are protected by epochs (ownership.h) and do not depend on clocks.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/executor.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

// Used by one thread, on which the executor's tasks and the store's callbacks run.
class Membership {
 public:
  struct Options {
    // REQUIRES: no other running server has this name. A server that joins replaces an earlier one of its
    // name.
    std::string name;
    uint64_t incarnation = 0;  // REQUIRES: this number was never used before
    std::string address;
    std::string data_center, rack;
    std::string version;
    std::string peer_address;
    bool is_preparing = false;  // set until finish_preparing()
    bool has_log = false;       // the member has a log, which a LogCollector removes once the member is gone
    double max_drift = 0.01;
  };

  struct Events {
    // Called with each newer state, for the first time after joining.
    std::function<void(const State&)> on_state;
    // Called when this member was removed (its lease expired, or its storage client was fenced), or could not
    // join because the state changed meanwhile. The server must discard everything it owns; it may join again
    // with another incarnation. Nothing else is called after this.
    std::function<void()> on_removed;
    // Called once when a leaving member has no shards any more. It stays a member, follows the state and keeps its lease, so requests
    // that it has begun can be completed, until finish_leaving(). If this is empty, the member leaves at once.
    std::function<void()> on_free;
    // Called when leave() is complete. Nothing else is called after this.
    std::function<void()> on_left;
  };

  // All must outlive this object. Events must not destroy this object: after the last event, destroy it in a
  // separate task.
  Membership(storage::objects::ObjectStore& store, base::Executor& executor, Options options, Events events);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Joins, and tries again while the storage does not answer.
  void start();
  // Declares that this server can serve requests, so it may get shards. Idempotent.
  void finish_preparing();
  // Asks the leader to move this member's shards away, and then removes the member. Idempotent.
  void leave();
  // Call it after Events::on_free, when no request is in flight. Idempotent.
  void finish_leaving();

  const MemberId& id() const { return id_; }
  bool is_leaving() const { return is_leaving_; }
  // True while no other member can own this member's shards. Check it after a read and before its answer.
  // Thread-safe if the executor's clock is.
  bool holds_lease() const;
  // The newest state that was read. Empty before the first.
  const std::optional<State>& state() const { return state_; }
  // Requests another read of the state, for example because a request showed that it is outdated.
  void refresh();

  // Returns a new tag, unique in the cluster.
  std::string next_tag();

 private:
  // A change of this member's entry that is repeated until it is known to be applied or refused.
  struct Attempt {
    storage::objects::Mutation mutation;
    Member value;
    int64_t first_sent = 0;
    uint64_t number = 0;
  };
  struct Observed {
    Member member;
    int64_t since = 0;  // when this value was first seen
  };

  template <typename Function>
  auto guarded(Function function);  // returns a function that does nothing once this object is destroyed
  int64_t lease_micros() const;
  void join();
  void begin_attempt(storage::objects::Mutation mutation, const std::optional<Member>& expected,
                     Member value);
  void send_attempt();
  void finish_attempt();
  void check_attempt();
  void renew();
  void watch();
  void replace_watch(std::unique_ptr<storage::objects::Watch> watch);
  void poll();
  void schedule_poll();
  void receive(base::Result<State> state);
  std::set<std::string> expired_members() const;
  void lead();
  void leave_if_free();
  void remove_self();
  void end(std::function<void()> notify);

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  const Options options_;
  const MemberId id_;
  Events events_;

  std::optional<State> state_;
  std::optional<Member> current_;  // this member's entry, as last known to be applied
  std::optional<Attempt> attempt_;
  uint64_t attempts_ = 0, tags_ = 0, poll_number_ = 0;
  std::atomic<int64_t> lease_until_ = 0;  // 0 once this member has ended
  std::map<std::string, Observed> observed_;
  std::unique_ptr<storage::objects::Watch> watch_;
  bool is_leaving_ = false, is_preparing_ = false, is_watching_ = false, is_polling_ = false,
       poll_again_ = false;
  bool is_changing_ = false;  // a mutation as the leader, or the removal of this member, is under way
  bool is_free_ = false, may_remove_self_ = false;  // on_free was called; finish_leaving() was
  bool has_sent_removal_ = false;
  bool has_ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sibyl::cluster
