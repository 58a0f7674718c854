// Runs a cluster of simulated servers from a seed, injects faults, and checks the responses that its clients
// received.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/simulation/requests.h"
#include "storage/objects/memory/faults.h"

namespace sibyl::cluster::simulation {

struct Scenario {
  uint64_t seed = 1;
  size_t servers = 5;
  uint32_t shards = 8;
  size_t clients = 5;
  size_t operations_per_client = 40;
  Weakness weakness = Weakness::none;
};

// How often each kind of fault was injected.
struct Injected {
  uint64_t crashes = 0, restarts = 0, clean_stops = 0;
  uint64_t pauses = 0, long_pauses = 0;  // long_pauses exceed the lease
  uint64_t cuts = 0, storage_cuts = 0;
  uint64_t lost_messages = 0, late_messages = 0, duplicated_replies = 0;
  uint64_t full_storage = 0, slow_storage = 0, lost_watches = 0;
  uint64_t drifting_clocks = 0, clock_jumps = 0;
  storage::objects::FaultCounts storage;  // of single operations

  void add(const Injected& other);
  struct Kind {
    const char* name;
    uint64_t count = 0;
  };
  std::vector<Kind> kinds() const;
  // One line for each kind.
  std::string print() const;
};

struct Report {
  // Empty if nothing was violated. The checks:
  //  - the operations on each key are linearizable, so no acknowledged write is lost;
  //  - no read is answered at an epoch of a shard after a later epoch has answered one;
  //  - in the end, each view row has the value of its base row;
  //  - when all faults have ended, every key can be read and the state settles: each shard has a live owner,
  //    no move and no log to replay are left, and logs that are not needed are removed.
  std::string violation;
  Injected injected;
  uint64_t operations = 0, answered = 0, owner_changes = 0;
};

// The report depends only on the scenario.
Report run(const Scenario& scenario);

}  // namespace sibyl::cluster::simulation
