// Guardrails and limits on the size of writes. Internal to src/execute.
#pragma once

#include <string>
#include <vector>

#include "execute/write/write_context.h"
#include "plan/guardrails.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// Checks sizes of values, and sizes and numbers of collection elements, in one row that is about to be
// written.
base::Status check_values(const schema::Table& table, const row::Fragment& fragment,
                          const plan::Guardrails& guardrails, std::vector<std::string>& warnings);
// Checks the write timestamp against the current time.
base::Status check_timestamp(const schema::Table& table, const WriteContext& context,
                             const plan::Guardrails& guardrails, std::vector<std::string>& warnings);

// Returns true if the statement's partitions must stay locked until it is durable: it reads first, or it
// deletes counters that other statements read and write back.
inline bool takes_locks(const plan::Modification& statement) {
  return statement.reads_first || statement.is_counter;
}

// The maximum size of one statement or batch. It is built in memory and committed whole.
inline constexpr size_t max_write_bytes = 64u << 20;
// Returns Cassandra's error if the write set is too large. `prefix` is that of the partition that was written
// last.
base::Status check_write_size(const schema::Table& table, BytesView prefix, const storage::WriteSet& writes);
// Returns an error if a statement names too many partitions and rows. `named` accumulates the number for a
// batch.
base::Status check_targets(const Targets& targets, size_t& named);

}  // namespace sibyl::execute
