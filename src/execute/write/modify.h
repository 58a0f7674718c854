// INSERT, UPDATE and DELETE.
#pragma once

#include "execute/environment.h"
#include "execute/result_set.h"
#include "execute/write/locks.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// The contract is that of try_write().
bool try_modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
                LockAttempt& attempt, Completion& done);

// Like try_modify(), but blocks until the locks are free.
void modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
            Completion done);

}  // namespace sibyl::execute
