// A store in memory: for tests, for the simulator and for `:memory:`.
//
// It keeps the whole contract of store.h but survives nothing. It is deterministic: it has no threads, a
// commit is done before commit() returns and calls back on the caller's thread, and time and failures come
// from its options.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "storage/store.h"

namespace sibyl::storage::memory {

struct Options {
  base::Clock* clock =
      nullptr;  // when compact() asks what has expired; must outlive the store; nullptr: the system's
  // Whether the n-th commit (from 1) fails. Called once for each, in their order.
  std::function<bool(uint64_t number)> fail_commit;
};

// Fails one commit in `one_in`, chosen by the seed.
std::function<bool(uint64_t)> seeded_failures(uint64_t seed, uint64_t one_in);

std::unique_ptr<Store> make_store(Options options = {});

}  // namespace sibyl::storage::memory
