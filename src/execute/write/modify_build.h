// Turns a bound statement and its values into a write set. Internal to src/execute/write.
#pragma once

#include "execute/write/counter.h"
#include "execute/write/modify_read.h"
#include "execute/write/write_context.h"
#include "storage/store.h"

namespace sibyl::execute {

// Determines the partitions that the statement names, and the rows within them. There are two functions,
// because conditions require a single partition before the values of a row are evaluated.
base::Status resolve_partitions(const plan::Modification& statement, const plan::Bindings& bindings,
                                Workspace& space, Targets& targets);
base::Status resolve_rows(const plan::Modification& statement, const plan::Bindings& bindings,
                          Workspace& space, Targets& targets);
// Calls both functions above. Returns an error if there are too many targets; `named` accumulates the number
// for the statements of a batch.
base::Status resolve_targets(const plan::Modification& statement, const plan::Bindings& bindings,
                             Workspace& space, Targets& targets, size_t& named);

// The rows read and the counters collected by statements that read first. Shared by the statements of a
// batch.
struct Before {
  ReadBefore reads;
  CounterTally counters;
};

// Adds the statement's records to `writes`. `before` is nullptr if nothing reads first. Counter increments
// are only collected.
base::Status build_writes(const plan::Modification& statement, const Targets& targets,
                          const plan::Bindings& bindings, const WriteContext& context, Before* before,
                          Workspace& space, storage::WriteSet& writes);

}  // namespace sibyl::execute
