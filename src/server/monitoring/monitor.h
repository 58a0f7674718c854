// The server's own state: for system_views through the engine, and as HTTP metrics.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/statistics/monitor.h"
#include "server/http/http.h"

namespace sibyl::server {

struct Shared;

class ServerMonitor final : public engine::Monitor {
 public:
  // `shared` must outlive the monitor.
  explicit ServerMonitor(Shared& shared) : shared_(shared) {}

  engine::Activity activity() const override;
  std::vector<engine::ThreadPool> thread_pools() const override;
  std::vector<engine::RunningRequest> running() const override;

  // How often idle connections have released their receive memory.
  uint64_t rests() const;
  // Memory of incomplete messages.
  size_t incoming_bytes() const;
  // Requests in flight, and those of them that are held until their client has read earlier results.
  size_t requests_in_flight() const;
  size_t held_requests() const;

  // The pages /metrics, /health, /ready and /status. `address` is where CQL is served.
  std::map<std::string, Http::Page> pages(const std::string& address);

  struct TableSize {
    std::string keyspace, table;
    uint64_t bytes = 0, partitions = 0;
  };

 private:
  // The result is cached for a minute.
  std::vector<TableSize> table_sizes();
  HttpAnswer metrics();
  HttpAnswer status(const std::string& address);

  Shared& shared_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  base::Mutex mutex_;
  std::vector<TableSize> table_sizes_ SIBYL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point table_sizes_time_ SIBYL_GUARDED_BY(mutex_){};
};

}  // namespace sibyl::server
