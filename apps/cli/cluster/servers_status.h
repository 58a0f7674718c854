// The status of all servers of a cluster, for `sibyl status --cluster`.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/result.h"
#include "cli/cluster/cluster_calls.h"

namespace sibyl::cli {

// Asks all servers at the same time. Fails if none answers.
//
//   {"servers": [{"name", and what /status shows, or "error"}],
//    "connections", "requests", "requests_in_flight", "errors", "commits", "disk_bytes", …: sums over the servers
//    "statements": {KIND: {"count"}}: sums,
//    "tables": [{"keyspace", "table", "bytes", "partitions"}]: of the whole database}
base::Result<boost::json::object> servers_status(ClusterCalls& calls);

std::string servers_status_text(const boost::json::object& status);

}  // namespace sibyl::cli
