#include <fmt/format.h>

#include "execute/execute.h"
#include "execute/locks.h"
#include "execute/upkeep.h"
#include "execute/vector_indexes.h"

namespace sibyl::execute {

void truncate(const plan::Prepared& prepared, Environment& environment, Completion done) {
  const schema::Table& table = *std::get<plan::Truncate>(prepared.plan).table;
  if (table.is_virtual) {
    done(
        base::invalid(fmt::format("Truncation is not supported by table {}.{}", table.keyspace, table.name)));
    return;
  }
  // The store applies write sets in one order: what commits after this one survives it. So whoever has read
  // rows, to count, to compare or to look after indexes and views, must have committed.
  PartitionLocks::Held held = environment.locks.acquire_all();
  storage::WriteSet writes;
  erase_all(table, writes);
  VectorIndexes* vectors = environment.vectors;
  std::vector<VectorIndexes::Change> changes;
  if (vectors != nullptr) changes = vectors->changes_of(writes);
  environment.store.commit(std::move(writes), [done = std::move(done), held = std::move(held), vectors,
                                               changes = std::move(changes)](base::Status status) mutable {
    if (status && !changes.empty()) vectors->committed(std::move(changes));
    held.release();
    if (status) {
      done(ResultSet());
    } else {
      done(base::fail(base::ErrorCode::truncate, "Error during truncate: " + status.error().message()));
    }
  });
}

}  // namespace sibyl::execute
