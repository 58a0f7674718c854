// What the server tells of itself: to system_views through the engine, and as metrics.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/monitor.h"
#include "server/http.h"

namespace sibyl::server {

struct Shared;

class ServerMonitor final : public engine::Monitor {
 public:
  // Borrows what it watches, which must outlive it.
  explicit ServerMonitor(Shared& shared) : shared_(shared) {}

  engine::Activity activity() const override;
  std::vector<engine::ThreadPool> thread_pools() const override;
  std::vector<engine::RunningRequest> running() const override;

  // How often a connection has given back the memory that it receives into.
  uint64_t rests() const;
  // For messages that have not come whole.
  size_t incoming_bytes() const;
  // Requests in flight, and those of them that wait until their client has taken earlier results.
  size_t calls() const;
  size_t held_calls() const;

  // /metrics, /health, /ready and /status. `address`: where CQL is served.
  std::map<std::string, Http::Page> pages(const std::string& address);

  struct TableSize {
    std::string keyspace, table;
    uint64_t bytes = 0, partitions = 0;
  };

 private:
  // Estimated anew when they are older than a minute.
  std::vector<TableSize> table_sizes();
  HttpAnswer metrics();
  HttpAnswer status(const std::string& address);

  Shared& shared_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards what follows
  std::vector<TableSize> table_sizes_;
  std::chrono::steady_clock::time_point table_sizes_time_{};
};

// What the operating system knows of this process.
struct ProcessUsage {
  double cpu_seconds = 0;
  uint64_t resident_bytes = 0, virtual_bytes = 0;
  uint64_t open_descriptors = 0, most_descriptors = 0, threads = 0;
  int64_t started_seconds = 0;  // since the epoch
};
ProcessUsage process_usage();

}  // namespace sibyl::server
