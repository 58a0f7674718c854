// The overview: the state of the server, sampled every five seconds, with the last hour kept in memory.
//
// Threads: start() and stop() are called by one thread; show() is thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/console/api.h"
#include "engine/engine.h"
#include "engine/statistics/monitor.h"
#include "server/monitoring/monitor.h"

namespace sibyl::cli::console {

class Overview {
 public:
  static constexpr std::chrono::seconds period{5};
  static constexpr size_t max_samples = 720;

  Overview(engine::Engine& engine, std::string data) : engine_(engine), data_(std::move(data)) {}
  ~Overview() { stop(); }

  void start(const engine::Monitor& monitor);
  void stop();

  // `since`: only samples after this time, in milliseconds since 1970.
  Answer show(const Call& call);

 private:
  // Rates are per second, latencies in microseconds, of the period that ends at `time`.
  struct Sample {
    int64_t time = 0;  // milliseconds
    double reads = 0, writes = 0, others = 0, errors = 0;
    uint64_t read_p50 = 0, read_p99 = 0, write_p50 = 0, write_p99 = 0;
    double cpu = 0;  // cores
    uint64_t memory = 0, disk = 0, memtable = 0;
    double cache_hits = 0;  // share of all look-ups; 1 if there are none
    double received = 0, sent = 0;
    double flushed = 0, compacted = 0;  // bytes per second
    uint64_t connections = 0, in_flight = 0;
    uint64_t overloaded = 0, timed_out = 0,
             connections_refused = 0;  // number of requests and connections in the period
  };
  struct Reading;

  void run(const engine::Monitor& monitor);
  static Sample compare(const Reading& before, const Reading& now);
  json::object series_after(int64_t since) const SIBYL_REQUIRES(mutex_);
  json::object current_state() const SIBYL_REQUIRES(mutex_);
  json::array current_warnings(const json::object& now);

  engine::Engine& engine_;
  const std::string data_;
  base::Mutex warnings_mutex_;
  std::optional<json::array> warnings_ SIBYL_GUARDED_BY(warnings_mutex_);
  std::chrono::steady_clock::time_point warnings_time_ SIBYL_GUARDED_BY(warnings_mutex_);
  base::Mutex mutex_;
  base::CondVar stopped_;
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::deque<Sample> samples_ SIBYL_GUARDED_BY(mutex_);
  std::shared_ptr<const Reading> last_ SIBYL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sibyl::cli::console
