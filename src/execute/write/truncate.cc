#include "execute/write/truncate.h"

#include <fmt/format.h>

#include "execute/index/maintenance.h"
#include "execute/vector/vector_indexes.h"

namespace sibyl::execute {

bool try_truncate(const plan::Prepared& prepared, Environment& environment, LockAttempt& attempt,
                  Completion& done) {
  const schema::Table& table = *std::get<plan::Truncate>(prepared.plan).table;
  if (table.is_virtual) {
    done(
        base::invalid(fmt::format("Truncation is not supported by table {}.{}", table.keyspace, table.name)));
    return true;
  }
  // The store applies write sets in one order, so a write that commits after this one survives it. Therefore
  // all writes that have read rows (for counters, conditions, indexes or views) must have committed.
  if (!attempt.take(environment.locks, environment.locks.all())) return false;
  storage::WriteSet writes;
  erase_all(table, writes);
  VectorIndexes* vectors = environment.vectors;
  std::vector<VectorIndexes::Change> changes;
  if (vectors != nullptr) changes = vectors->changes_of(writes);
  environment.store.commit(
      std::move(writes), [done = std::move(done), held = std::move(attempt.held), vectors,
                          changes = std::move(changes)](base::Status status) mutable {
        if (status && !changes.empty()) vectors->committed(std::move(changes));
        held.release();
        if (status) {
          done(ResultSet());
        } else {
          done(base::fail(base::ErrorCode::truncate, "Error during truncate: " + status.error().message()));
        }
      });
  return true;
}

void truncate(const plan::Prepared& prepared, Environment& environment, Completion done) {
  LockAttempt attempt;
  while (!try_truncate(prepared, environment, attempt, done))
    attempt.held = environment.locks.acquire(std::move(attempt.wanted));
}

}  // namespace sibyl::execute
