// Traces of requests, shown in system_traces.
//
// A request that is to be traced gets a RequestTrace, which is passed to execution as
// execute::Request::trace. When the request has finished, the trace becomes rows of system_traces.sessions
// and events. The rows are in memory; only the newest traces are kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "engine/system_tables/system_tables.h"
#include "engine/tracing/trace_sink.h"
#include "execute/trace.h"

namespace sibyl::engine {

// Not thread-safe; used by one thread at a time.
class RequestTrace final : public execute::Trace {
 public:
  struct Start {
    // The request as Cassandra names it, such as "Execute CQL3 query".
    std::string request;
    std::string client;                             // numeric address
    std::map<std::string, std::string> parameters;  // "query", "consistency_level"...
  };
  static constexpr size_t max_steps = 1000;
  static constexpr size_t max_text = 16u << 10;  // length of a step or parameter; more is truncated

  RequestTrace(Start start, base::Clock& clock);

  const Bytes& id() const { return id_; }  // a timeuuid
  void step(std::string activity) override;
  void set_parameter(const std::string& name, std::string value);
  // Ends the measurement of the duration.
  void stop();

  struct Step {
    Bytes id;  // a timeuuid
    std::string activity, thread;
    int32_t elapsed_micros = 0;
  };
  const Start& start() const { return start_; }
  const std::vector<Step>& steps() const { return steps_; }
  int64_t started_micros() const { return started_micros_; }
  int32_t duration_micros() const { return duration_micros_; }

 private:
  int32_t elapsed() const;

  Start start_;
  base::Clock& clock_;
  Bytes id_;
  int64_t started_micros_;
  std::chrono::steady_clock::time_point started_;
  int32_t duration_micros_ = 0;
  std::vector<Step> steps_;
};

// Thread-safe.
class Traces final : public TraceSink {
 public:
  static constexpr size_t max_sessions = 1000;
  static constexpr size_t max_bytes = 16u << 20;

  explicit Traces(SystemTables& tables) : tables_(tables) {}
  // Evicts the oldest traces above the limits.
  void publish(const RequestTrace& trace) override;

 private:
  struct Shown {
    Bytes id;
    size_t bytes;
  };
  SystemTables& tables_;
  base::Mutex mutex_;
  std::deque<Shown> shown_ SIBYL_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ SIBYL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sibyl::engine
