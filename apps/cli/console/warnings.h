// Warnings for the overview: large and hot partitions, tombstones, a full disk, failed background work.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

// `now` is the state that the overview shows. {"severity", "text", "keyspace", "table"}, worst first.
json::array find_warnings(engine::Engine& engine, const json::object& now);
// Leaves out warnings about tables that the role may not read.
json::array readable_warnings(const Call& call, json::array warnings);

}  // namespace sibyl::cli::console
