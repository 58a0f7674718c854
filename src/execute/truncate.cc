#include <fmt/format.h>

#include "execute/execute.h"
#include "row/record_key.h"

namespace sibyl::execute {

void truncate(const plan::Prepared& prepared, Environment& environment, Completion done) {
  const schema::Table& table = *std::get<plan::Truncate>(prepared.plan).table;
  if (table.is_virtual) {
    done(
        base::invalid(fmt::format("Truncation is not supported by table {}.{}", table.keyspace, table.name)));
    return;
  }
  // The store applies write sets in one order: what commits after this one survives it.
  storage::WriteSet writes;
  writes.erase_range(row::table_begin(table.storage_id), row::table_end(table.storage_id));
  environment.store.commit(std::move(writes), [done = std::move(done)](base::Status status) mutable {
    if (status) {
      done(ResultSet());
    } else {
      done(base::fail(base::ErrorCode::truncate, "Error during truncate: " + status.error().message()));
    }
  });
}

}  // namespace sibyl::execute
