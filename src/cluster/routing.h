// The owners of shards, as far as this server knows: for code that sends requests to owners, and for code
// that answers them.
//
// An answer may be outdated as soon as the caller has it. So a request carries the epoch of its shard, and
// its receiver decides:
//
//  1. Before it executes anything, the receiver takes ShardedStore::use(shard) and compares
//     ShardedStore::open_epoch(shard) with the epoch of the request. If they differ, it answers "moved".
//  2. It holds the use until its commit is done.
//  3. After it has read, and before it answers with the data, it asks may_answer(). If not, it answers
//     "moved" as well, if nothing was written.
//
// On "moved", and if a call was not sent, the caller calls wait_for_owner() and repeats the request until its
// deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/state.h"

namespace sibyl::cluster {

struct ShardOwner {
  MemberId member;
  uint64_t epoch = 0;
  bool is_here = false;  // this server is the owner; the shard may still be opening

  bool operator==(const ShardOwner&) const = default;
};

// Thread-safe.
class Routing {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Routing() = default;

  virtual uint32_t shard_count() const = 0;
  // The owner in the newest state that this server has read. nullopt: no server owns the shard.
  virtual std::optional<ShardOwner> owner(uint32_t shard) const = 0;
  // Requests a newer state, and blocks until the shard has an owner that differs from `outdated`, or until
  // the shard is open if this server owns it. Returns after about 100 ms in any case, with the value of
  // owner(), because a receiver may be a moment behind the state. Returns nullopt if the deadline has passed.
  virtual std::optional<ShardOwner> wait_for_owner(uint32_t shard, const std::optional<ShardOwner>& outdated,
                                                   Time deadline) = 0;
  // Requests a newer state, without waiting for it. Cheap if there was a request just before.
  virtual void refresh() {}
  // True if no other server can have served a shard that this server has open. Check it after data was read.
  virtual bool may_answer() const = 0;
  // All members except this one.
  virtual std::vector<MemberId> others() const = 0;
  // False once the member is gone: its lease has expired, or it has left.
  virtual bool is_member(const MemberId& member) const = 0;
};

}  // namespace sibyl::cluster
