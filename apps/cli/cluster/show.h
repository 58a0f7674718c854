// The state of a cluster, for `sibyl cluster status` and the console.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cluster/state.h"
#include "storage/objects/files/directory_summary.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

// Reads the state until each server has renewed its lease, for at most half of the duration of leases.
// Blocks.
//
//   {"storage", "lease_ms", "total_bytes", "used_bytes",
//    "servers": [{"name", "address", "data_center", "rack", "version", "state", "shards", "is_leader", "renews", "log": LOG}],
//    "shards": [{"shard", "first_token", "last_token", "epoch", "owner", "next", "logs_to_replay", "bytes", "files", "trash"}],
//    "logs": [{"log", "server", and the fields of LOG}]}
//   LOG: {"is_sealed", "first_segment", "last_segment", "sequence": of the last record, "bytes"}
//
// "state" is "serving", "opening", "joining", "standby" or "leaving". "renews" is false for a server that did
// not renew its lease in this time; it has probably stopped. Tokens are texts; the shard of the catalogue has
// none. The logs are those of all servers that had one, also of former members, whose "server" is empty.
base::Result<boost::json::object> cluster_status(storage::objects::ObjectStore& store,
                                                 const std::string& storage);

std::string cluster_status_text(const boost::json::object& status);

// Returns a text such as "1.5 MiB".
std::string bytes_text(double bytes);

// Follows a cluster without waiting for leases. Thread-safe.
class ClusterObserver {
 public:
  // The store must outlive this object. `own` is the server that observes.
  ClusterObserver(storage::objects::ObjectStore& store, std::string storage, std::string own)
      : store_(store), storage_(std::move(storage)), own_(std::move(own)) {}

  // Returns what cluster_status() returns, and "own". Instead of "renews", servers have "silent_ms": the time
  // since this object has first seen their last renewal. Sizes of shards are up to 20 seconds old. Blocks.
  base::Result<boost::json::object> observe();

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    cluster::Member member;
    Clock::time_point since;
  };
  base::Status measure(const cluster::State& state, Clock::time_point now) SIBYL_REQUIRES(mutex_);

  storage::objects::ObjectStore& store_;
  const std::string storage_, own_;
  base::Mutex mutex_;
  std::map<std::string, Seen> seen_ SIBYL_GUARDED_BY(mutex_);
  std::vector<storage::objects::DirectorySummary> sizes_ SIBYL_GUARDED_BY(mutex_);
  storage::objects::Space space_ SIBYL_GUARDED_BY(mutex_);
  Clock::time_point measured_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::cli
