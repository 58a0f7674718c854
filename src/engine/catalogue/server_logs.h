// Facts about the logs of a cluster's servers, for programs that monitor the cluster.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/log_summary.h"
#include "storage/objects/object_store.h"

namespace sibyl::engine {

// Returns how far the log of a server extends. `log` is the name that open_shards() got. Changes nothing.
// Blocks.
base::Result<storage::LogSummary> summarise_server_log(storage::objects::ObjectStore& store,
                                                       const std::string& log);

}  // namespace sibyl::engine
