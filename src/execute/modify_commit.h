// The last step of every write. Private to this room.
#pragma once

#include <vector>

#include "execute/environment.h"
#include "execute/locks.h"
#include "execute/modify_moment.h"

namespace sibyl::execute {

// Hands the write set to the store; answers with `result` when it is durable, with the locks given back and
// the observer told of the end.
void commit(Environment& environment, storage::WriteSet writes, PartitionLocks::Held held, ResultSet result,
            Counted counted, Completion done, Trace* trace = nullptr);

// Tells the observer, if there is one, what the statement writes to. When nothing but the commit is left that
// could fail.
void observe(Environment& environment, const plan::Modification& statement, const Targets& targets);

// The request's time: what now() gives and expiry counts from.
plan::Bindings bindings_of(std::span<const types::ValueView> values, int64_t now_micros);
int64_t now_seconds_of(const Request& request, int64_t now_micros);

// The timestamp of a statement: its own, the batch's or the client's, else the server's.
base::Result<Moment> moment_of(const plan::Modification& statement, const plan::Bindings& bindings,
                               const Request& request, std::optional<int64_t> batch_timestamp,
                               int64_t server_timestamp, plan::Scratch& scratch);

}  // namespace sibyl::execute
