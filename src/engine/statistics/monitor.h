// Measurements of the server. The engine reads them for system_views, and the HTTP endpoint for metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "plan/execution_profile.h"

namespace sibyl::engine {

using plan::statement_kinds;
using plan::StatementKind;

// Measurements per table. Latencies are in microseconds: `coordinator` from the arrival of a request to its
// response, `local` while it executes.
enum class TableMeasure : uint8_t {
  coordinator_read,
  coordinator_scan,
  coordinator_write,
  local_read,
  local_scan,
  local_write,
  rows_per_read,
  tombstones_per_read,
};
inline constexpr size_t table_measures = 8;

// Counts since the server started.
struct Activity {
  uint64_t uptime_micros = 0;
  std::array<base::HistogramSnapshot, statement_kinds> latencies{};  // microseconds
  std::map<int32_t, uint64_t> errors;                                // by the protocol's code
  uint64_t prepared_executions = 0, regular_executions = 0;
  uint64_t bytes_received = 0, bytes_sent = 0;
  uint64_t connections = 0, connections_accepted = 0, connections_refused = 0;
  uint64_t requests_in_flight = 0, request_bytes_in_flight = 0;
  uint64_t slow_requests = 0;
  std::array<base::HistogramSnapshot, 3> batch_partitions{};  // logged, unlogged, counter
  std::map<uint32_t, std::array<base::HistogramSnapshot, table_measures>> tables;  // by storage id
};

struct ThreadPool {
  std::string name;
  uint64_t active = 0, limit = 0, pending = 0, completed = 0, refused = 0;
};

// A request that is being executed, or waits for a thread.
struct RunningRequest {
  std::string thread;
  uint64_t queued_micros = 0, running_micros = 0;
  std::string task;  // the statement without its values
};

// Thread-safe.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual Activity activity() const = 0;
  virtual std::vector<ThreadPool> thread_pools() const = 0;
  virtual std::vector<RunningRequest> running() const = 0;
};

// A line of the log, for system_views.system_logs.
struct LogLine {
  int64_t time_micros = 0;
  std::string level, logger, message;
};

}  // namespace sibyl::engine
