// Removes the logs of members that are gone, when no shard needs them any more. Used by the leader.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cluster/membership.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

// Used by one thread, like Membership.
class LogCollector {
 public:
  using Done = std::move_only_function<void(base::Status)>;
  // Removes a log. May be called again for a log that was removed completely or in part.
  using Remove = std::function<void(const MemberId& log, Done done)>;

  // All must outlive this object. `done` of `remove` must be called on the thread, or never.
  LogCollector(storage::objects::ObjectStore& store, Membership& membership, Remove remove)
      : store_(store), membership_(membership), remove_(std::move(remove)) {}
  ~LogCollector() { *alive_ = false; }

  // Handles a newer state. Call it in Membership's on_state.
  void follow(const State& state);

 private:
  void forget(const MemberId& log);

  storage::objects::ObjectStore& store_;
  Membership& membership_;
  const Remove remove_;
  bool is_busy_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sibyl::cluster
