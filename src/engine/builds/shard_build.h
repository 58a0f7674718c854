// Records how far an index or a view is built in one shard of a cluster.
//
// The progress is a record in the index's run, next to the entries, so it moves with the shard:
//
//   index id · token of the run · no partition key · kind 0   a fragment with one cell: the attempt that builds, or "done"
//
// An attempt that finds another one in the record gives up: the shard was elsewhere in between, and its
// entries have been erased.
//
// The rows of a view are in other shards than its base table, and view rows may be renewed several times
// (intents/view_updates.h). So only the end is recorded, under a table id of its own:
//
//   id · token of the run · no partition key · kind 2 · storage id of the view
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/store.h"

namespace sibyl::engine {

base::Bytes shard_build_key(uint32_t index_id, const storage::EntryRun& run);

// Erases the entries and begins the build. REQUIRES: no write of the shard is between its reads and its
// commit.
storage::WriteSet begin_shard_build(uint32_t index_id, const storage::EntryRun& run, base::BytesView attempt);
storage::WriteSet end_shard_build(uint32_t index_id, const storage::EntryRun& run);

base::Result<bool> is_shard_build(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run, base::BytesView attempt);
base::Result<bool> is_shard_built(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run);

// A table id that no table gets.
inline constexpr uint32_t view_builds_table_id = std::numeric_limits<uint32_t>::max() - 2;
base::Bytes view_build_key(uint32_t view_id, const storage::EntryRun& run);
// Returns the views whose builds have a record in the shard.
base::Result<std::vector<uint32_t>> recorded_view_builds(const storage::Store& store,
                                                         const storage::EntryRun& run);

}  // namespace sibyl::engine
