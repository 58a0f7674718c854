// Snapshots of a cluster: `sibyl snapshot` with --cluster.
//
// A snapshot is of one moment for the whole database: all servers stop their commits, write what they have in
// memory, and resume. So it contains every write that was acknowledged before it began, and each batch as a
// crash at that moment would leave it: in the shards of one server completely or not at all, and over several
// servers with its intent, which the restored cluster applies.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cluster/cluster_calls.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/shared/object_snapshots.h"

namespace sibyl::cli {

// An empty name is replaced by one made from the time. Repeats the attempt if shards move meanwhile. Blocks.
base::Result<storage::rocksdb::ObjectSnapshot> take_cluster_snapshot(ClusterCalls& calls, std::string name);

// Creates a cluster from a snapshot in a storage without one. It has the same number of shards and another
// secret. If this fails, the storage has no cluster, and the same call may be repeated. Blocks.
base::Status restore_cluster_snapshot(storage::objects::ObjectStore& from,
                                      const storage::rocksdb::ObjectSnapshot& snapshot,
                                      storage::objects::ObjectStore& to, const std::string& to_name);

// New settings of a cluster, with a random secret.
cluster::Settings new_settings(uint32_t shards, int64_t lease_ms);

}  // namespace sibyl::cli
