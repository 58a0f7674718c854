// The state of a cluster, for `sibyl cluster status`.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>

#include "base/result.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

// Reads the state until each server has renewed its lease, for at most half of the duration of leases. Blocks.
//
//   {"storage", "lease_ms", "total_bytes", "used_bytes",
//    "servers": [{"name", "address", "data_center", "rack", "version", "state", "is_leader", "renews",
//                 "log": {"first_segment", "last_segment", "bytes", "sequence": of the last record}}],
//    "shards": [{"shard", "epoch", "owner", "next", "logs_to_replay", "bytes", "files", "trash"}]}
//
// "state" is "serving", "opening", "standby" or "leaving". "renews" is false for a server that did not renew its lease in this
// time; it has probably stopped.
base::Result<boost::json::object> cluster_status(storage::objects::ObjectStore& store,
                                                 const std::string& storage);

std::string cluster_status_text(const boost::json::object& status);

// Such as "1.5 MiB".
std::string bytes_text(double bytes);

}  // namespace sibyl::cli
