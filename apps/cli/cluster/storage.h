// The storage of a cluster, from its settings.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

// Connects. Blocks, for at most about `timeout`. Afterwards, the outcome of an operation that is not answered
// within `timeout` is unknown. REQUIRES: options.storage is not empty.
base::Result<std::unique_ptr<storage::objects::ObjectStore>> connect_to_storage(
    const ClusterOptions& options, std::chrono::seconds timeout = std::chrono::seconds(10));

// Reads the state of the cluster. Blocks.
base::Result<cluster::State> read_cluster_state(storage::objects::ObjectStore& store);

}  // namespace sibyl::cli
