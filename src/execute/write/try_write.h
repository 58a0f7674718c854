// Writes that never block for locks: a write that finds them taken is started again later.
#pragma once

#include <memory>

#include "execute/environment.h"
#include "execute/result_set.h"
#include "execute/write/locks.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// Runs a modification, batch or TRUNCATE. It completes when it is durable as configured for the store.
// Returns false if the locks of its partitions are taken: then nothing was done and `done` was not used. In
// this case acquire `attempt.wanted` into `attempt.held` and call again with a plan for the newest schema.
// REQUIRES: the plan is of one of these kinds.
bool try_write(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);

// Starts to measure a statement. Its duration includes all attempts, from the first one on.
inline Counted count_from_first(std::shared_ptr<plan::QueryShape> shape, LockAttempt& attempt) {
  Counted counted = Counted::from_now(std::move(shape));
  if (attempt.started) counted.started = *attempt.started;
  attempt.started = counted.started;
  return counted;
}

}  // namespace sibyl::execute
