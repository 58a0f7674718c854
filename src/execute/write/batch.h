// BATCH: several modifications, written atomically.
#pragma once

#include <memory>
#include <span>

#include "execute/environment.h"
#include "execute/result_set.h"
#include "execute/write/locks.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// A statement of a protocol BATCH with its own values.
struct BatchItem {
  plan::PreparedPtr statement;
  std::span<const types::ValueView> values;
};

// Both run a batch: a BATCH statement, or a BATCH of the protocol. `shape` is the batch's, or null. The
// contract is the one of try_write().
bool try_batch(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done);
bool try_batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
               Environment& environment, std::shared_ptr<plan::QueryShape> shape, LockAttempt& attempt,
               Completion& done);

// Like try_batch(), but these block until the locks are free.
void batch(const plan::Prepared& prepared, const Request& request, Environment& environment, Completion done);
void batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
           Environment& environment, std::shared_ptr<plan::QueryShape> shape, Completion done);

}  // namespace sibyl::execute
