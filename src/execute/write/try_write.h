// Writes that never block for locks: a write that finds them taken is started again later.
#pragma once

#include <memory>
#include <span>

#include "execute/execute.h"
#include "execute/write/locks.h"

namespace sibyl::execute {

// Runs a modification, batch or TRUNCATE. It completes when it is durable as configured for the store.
// Returns false if the locks of its partitions are taken: then nothing was done and `done` was not used. In
// this case acquire `attempt.wanted` into `attempt.held` and call again with a plan for the newest schema.
// REQUIRES: the plan is of one of these kinds.
bool try_write(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);

// The same for a protocol BATCH. `shape` is the batch's, or null.
bool try_batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
               Environment& environment, std::shared_ptr<plan::QueryShape> shape, LockAttempt& attempt,
               Completion& done);

// Internal to src/execute/write.
bool try_modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
                LockAttempt& attempt, Completion& done);
bool try_batch(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);
bool try_truncate(const plan::Prepared& prepared, Environment& environment, LockAttempt& attempt,
                  Completion& done);

// Starts counting a statement. Its duration counts from the first attempt.
inline Counted count_from_first(std::shared_ptr<plan::QueryShape> shape, LockAttempt& attempt) {
  Counted counted = Counted::from_now(std::move(shape));
  if (attempt.started) counted.started = *attempt.started;
  attempt.started = counted.started;
  return counted;
}

}  // namespace sibyl::execute
