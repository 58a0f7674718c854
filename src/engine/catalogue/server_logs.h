// The logs of the servers of a cluster, as programs that watch it see them.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/log_summary.h"
#include "storage/objects/object_store.h"

namespace sibyl::engine {

// How far the log of a server reaches. `log` is the name that open_shards() got. Changes nothing. Blocks.
base::Result<storage::LogSummary> summarise_server_log(storage::objects::ObjectStore& store,
                                                       const std::string& log);

}  // namespace sibyl::engine
