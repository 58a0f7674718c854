// Writes that never block for locks: one that finds them taken is begun again later.
#pragma once

#include <memory>
#include <span>

#include "execute/execute.h"
#include "execute/locks.h"

namespace sibyl::execute {

// Modifications, batches and TRUNCATE; they complete when they are durable as the store is configured. False:
// the locks of its partitions are taken; nothing has been done, and `done` was not used. Then acquire
// `attempt.wanted` for `attempt.held` and call again, with a plan that knows the newest schema.
// REQUIRES: the plan is of one of them.
bool try_write(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);

// The same for a protocol BATCH. `usage`: the batch's own, or none.
bool try_batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
               Environment& environment, std::shared_ptr<void> usage, LockAttempt& attempt, Completion& done);

// --- Private to this room.
bool try_modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
                LockAttempt& attempt, Completion& done);
bool try_batch(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);
bool try_truncate(const plan::Prepared& prepared, Environment& environment, LockAttempt& attempt,
                  Completion& done);

// The statement's time counts from the first attempt.
inline Counted count_from_first(std::shared_ptr<void> usage, LockAttempt& attempt) {
  Counted counted = Counted::from_now(std::move(usage));
  if (attempt.started) counted.started = *attempt.started;
  attempt.started = counted.started;
  return counted;
}

}  // namespace sibyl::execute
