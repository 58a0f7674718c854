// The last step of every write. Internal to src/execute/write.
#pragma once

#include <vector>

#include "execute/environment.h"
#include "execute/write/locks.h"
#include "execute/write/write_context.h"

namespace sibyl::execute {

// Commits the write set. When it is durable, releases the locks, notifies the observer and calls `done` with
// `result`.
void commit(Environment& environment, storage::WriteSet writes, PartitionLocks::Held held, ResultSet result,
            Counted counted, Completion done, Trace* trace = nullptr);

// Notifies the observer, if any, of the statement's partitions. Must be called when only the commit can still
// fail.
void observe(Environment& environment, const plan::Modification& statement, const Targets& targets);

// The request's time, which now() returns and from which expiry is computed.
plan::Bindings bindings_of(std::span<const types::ValueView> values, int64_t now_micros);
int64_t now_seconds_of(const Request& request, int64_t now_micros);

// Returns the context with the statement's timestamp: its own, the batch's, the client's or else the
// server's.
base::Result<WriteContext> write_context_of(const plan::Modification& statement,
                                            const plan::Bindings& bindings, const Request& request,
                                            std::optional<int64_t> batch_timestamp, int64_t server_timestamp,
                                            plan::Scratch& scratch);

}  // namespace sibyl::execute
