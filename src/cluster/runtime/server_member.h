// A server's part in a cluster: Membership and Ownership on a thread of their own.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

class ServerMember {
 public:
  // Called on the member's thread; they must not block and must not destroy the member.
  struct Events {
    std::function<void(const State&)> on_state;
    // All shards have been dropped. Another server may own them already, so no data that was read may be
    // sent.
    std::function<void()> on_removed;
    // As in Membership::Events.
    std::function<void()> on_free;
    std::function<void()> on_left;
  };

  // Removes the log of a member that is gone, if members have logs. May block; called on a thread of its own.
  using RemoveLog = std::function<base::Status(const MemberId& log)>;

  // `host` must outlive this object. It is called on the member's thread and must not block; it may call back
  // on any thread. The member has its own connection to the storage, because a server that takes a shard over
  // fences the connection of its former owner.
  ServerMember(std::unique_ptr<storage::objects::ObjectStore> store, Membership::Options options,
               ShardHost& host, Events events, RemoveLog remove_log = {});
  // Stops without leaving, as a crash does: others wait for the lease.
  ~ServerMember();
  ServerMember(const ServerMember&) = delete;
  ServerMember& operator=(const ServerMember&) = delete;

  // --- Thread-safe.

  // Joins the cluster. REQUIRES: called once.
  void start();
  // Declares that this server can serve requests and may get shards. For Membership::Options::is_preparing.
  void finish_preparing();
  // Requests a newer state.
  void refresh();
  // Hands this server's shards over and leaves the cluster; on_free and on_left, or on_removed, follow.
  void leave();
  // See Membership.
  void finish_leaving();
  // True while no other server can have this server's shards. Check it after data was read and before it is
  // answered.
  bool holds_lease() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sibyl::cluster
