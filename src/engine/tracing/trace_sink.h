// Takes the traces of finished requests.
#pragma once

namespace sibyl::engine {

class RequestTrace;  // traces.h

// Thread-safe.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Publishes a finished trace in system_traces.
  virtual void publish(const RequestTrace& trace) = 0;
};

}  // namespace sibyl::engine
