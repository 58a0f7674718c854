// How far the entries of an index are built in one shard of a cluster.
//
// A record of the partition of the index's run, beside the entries, holds it, so that it moves with the shard:
//
//   index id · token of the run · no partition key · kind 0   a fragment with one cell: the attempt that builds, or "done"
//
// An attempt that finds another one in the record gives up: the shard was elsewhere in between, and its entries have been erased.
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
