// Guardrails and limits on what a statement writes. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "execute/modify_moment.h"
#include "plan/guardrails.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// Sizes of values, and sizes and numbers of elements of collections, in one row that is about to be written.
base::Status check_values(const schema::Table& table, const row::Fragment& fragment,
                          const plan::Guardrails& guardrails, std::vector<std::string>& warnings);
// The write timestamp against the present.
base::Status check_timestamp(const schema::Table& table, const Moment& moment,
                             const plan::Guardrails& guardrails, std::vector<std::string>& warnings);

// Whether its partitions are locked until it is durable: it reads first, or it deletes what others read, add
// to and write again.
inline bool takes_locks(const plan::Modification& statement) {
  return statement.reads_first || statement.is_counter;
}

// How much one statement, or one batch, may write: it is built in memory, and committed whole.
inline constexpr size_t max_write_bytes = 64u << 20;
// Refuses a write set that has become larger, in Cassandra's words. `prefix`: of the partition that was
// written to last.
base::Status check_write_size(const schema::Table& table, BytesView prefix, const storage::WriteSet& writes);
// Refuses a statement whose partitions and rows are too many together. `named`: by others of its batch.
base::Status check_targets(const Targets& targets, size_t& named);

}  // namespace sibyl::execute
