// The progress of building an index in one shard of a cluster.
//
// The progress is a record in the index's run, next to the entries, so it moves with the shard:
//
//   index id · token of the run · no partition key · kind 0   a fragment with one cell: the attempt that builds, or "done"
//
// An attempt that finds another one in the record gives up: the shard was on another server in between, which
// has erased its entries.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/store.h"

namespace sibyl::engine {

base::Bytes shard_build_key(uint32_t index_id, const storage::EntryRun& run);

// Erases the entries and begins. REQUIRES: no write of the shard is between its reads and its commit.
storage::WriteSet begin_shard_build(uint32_t index_id, const storage::EntryRun& run, base::BytesView attempt);
storage::WriteSet end_shard_build(uint32_t index_id, const storage::EntryRun& run);

base::Result<bool> is_shard_build(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run, base::BytesView attempt);
base::Result<bool> is_shard_built(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run);

}  // namespace sibyl::engine
