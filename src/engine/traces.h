// Traces of requests: what system_traces shows.
//
// A request that asks to be traced is given a RequestTrace, which execution is told as
// execute::Request::trace. Finished, it becomes rows of system_traces.sessions and events: in memory, the
// newest ones up to a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/system_tables.h"
#include "execute/trace.h"

namespace sibyl::engine {

// One thread at a time.
class RequestTrace final : public execute::Trace {
 public:
  struct Start {
    std::string request;                            // as Cassandra calls it: "Execute CQL3 query"
    std::string client;                             // numeric address
    std::map<std::string, std::string> parameters;  // "query", "consistency_level"...
  };
  static constexpr size_t most_steps = 1000;
  static constexpr size_t most_text = 16u << 10;  // of a step or a parameter; longer ones are cut

  RequestTrace(Start start, base::Clock& clock);

  const Bytes& id() const { return id_; }  // a timeuuid
  void step(std::string activity) override;
  void set_parameter(const std::string& name, std::string value);
  // From here on the duration stands still.
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
class Traces {
 public:
  static constexpr size_t most_sessions = 1000;
  static constexpr size_t most_bytes = 16u << 20;

  explicit Traces(SystemTables& tables) : tables_(tables) {}
  // Shows the trace; the oldest ones go when there are too many.
  void show(const RequestTrace& trace);

 private:
  struct Shown {
    Bytes id;
    size_t bytes;
  };
  SystemTables& tables_;
  std::mutex mutex_;
  std::deque<Shown> shown_;  // oldest first
  size_t bytes_ = 0;
};

}  // namespace sibyl::engine
