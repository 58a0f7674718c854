// Chooses an owner for each shard: rendezvous hashing, with a bound on each member's number of shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sibyl::cluster {

// Returns for each shard the name of the member that should own it. `owners` has the members that own the
// shards now (empty: none). All members get the same number of shards, or one more.
//
// A pure function that moves as little as possible: shards stay where they are unless their owner is not
// among `members` or has too many. Placing the result again changes nothing. Returns empty names if there are
// no members.
std::vector<std::string> place_shards(const std::vector<std::string>& owners,
                                      const std::vector<std::string>& members);

}  // namespace sibyl::cluster
