// Decides what the leader of a cluster changes next. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

// The limit of shards that move for balance at the same time. Moves away from leaving members are not
// limited.
inline constexpr size_t max_balancing_moves = 4;

// Returns the mutation by which `self` improves the state, or nullopt if there is nothing to do or `self` is
// neither the leader nor may become it. `expired` names members whose leases have expired, as far as `self`
// knows; `tag` is the new tag, unique.
//
//  1. If there is no leader or it has expired, `self` becomes the leader.
//  2. Expired members are removed, and their shards get a new epoch and a live owner, which has to replay
//     their logs.
//  3. Members that are still preparing get shards only if there are no others.
//  4. A shard that another member should own gets that member as `next`, and its owner hands it over.
//
// The mutation is guarded by the leader, by the tag of `state`, and by the entries of the members that it
// removes. It is refused if such a member has renewed its lease in the meantime, or after any other change.
// So it is safe even if it is applied late.
std::optional<storage::objects::Mutation> plan_change(const State& state, const MemberId& self,
                                                      const std::set<std::string>& expired,
                                                      const std::string& tag);

}  // namespace sibyl::cluster
