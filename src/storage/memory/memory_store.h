// A store in memory: for tests, for the simulator and for `:memory:`.
//
// Implements the whole contract of store.h except durability. It is deterministic: it has no threads, a
// commit completes and calls back on the caller's thread before commit() returns, and time and failures come
// from its options.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "storage/store.h"

namespace sibyl::storage::memory {

struct Options {
  // The clock for expiry in compact(). Must outlive the store. nullptr: the system clock.
  base::Clock* clock = nullptr;
  // Called once for each commit, in order, with its number (from 1). Returns true if the commit must fail.
  std::function<bool(uint64_t number)> fail_commit;
  // The runs of index entries, at least one. More are for tests of stores with several shards.
  std::vector<EntryRun> entry_runs = {EntryRun()};
};

// Returns a function that fails one commit in `one_in`, chosen by the seed.
std::function<bool(uint64_t)> seeded_failures(uint64_t seed, uint64_t one_in);

std::unique_ptr<Store> make_store(Options options = {});

}  // namespace sibyl::storage::memory
