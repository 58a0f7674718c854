// TRUNCATE.
#pragma once

#include "execute/environment.h"
#include "execute/result_set.h"
#include "execute/write/locks.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// The contract is that of try_write().
bool try_truncate(const plan::Prepared& prepared, Environment& environment, LockAttempt& attempt,
                  Completion& done);

// Like try_truncate(), but blocks until the locks are free.
void truncate(const plan::Prepared& prepared, Environment& environment, Completion done);

}  // namespace sibyl::execute
