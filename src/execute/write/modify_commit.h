// The last step of every write. Internal to src/execute/write.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "execute/environment.h"
#include "execute/spread_writes.h"
#include "execute/view_row.h"
#include "execute/write/locks.h"
#include "execute/write/write_context.h"

namespace sibyl::execute {

// Commits the write set. When it is durable, releases the locks. When all affected view rows in other shards
// have been renewed too, notifies the observer and calls `done` with `result`.
void commit(Environment& environment, storage::WriteSet writes, std::vector<ViewRow> view_rows,
            PartitionLocks::Held held, ResultSet result, Counted counted, Completion done,
            const Request& request);

// Like add_index_maintenance(). Affected view rows that are in other shards are added to `view_rows`.
base::Status maintain_indexes(std::span<const schema::Table* const> tables, Environment& environment,
                              const Request& request, storage::WriteSet& writes,
                              std::vector<ViewRow>& view_rows);

// True if the write has several partitions and some are on other servers of the cluster. Their owners must
// then write them: no locks are taken here, and the owners maintain the indexes.
template <typename Prefixes>
bool is_over_servers(const Environment& environment, const Prefixes& prefixes) {
  return environment.spread != nullptr && prefixes.size() > 1 &&
         std::ranges::any_of(prefixes,
                             [&](const Bytes& prefix) { return environment.store.hold(prefix) == nullptr; });
}
base::Error counters_over_servers();
// Like commit(), for partitions of several servers.
void commit_spread(Environment& environment, SpreadBatch batch, ResultSet result, Counted counted,
                   Completion done);

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
