// Receives the steps of a traced request while it runs.
#pragma once

#include <string>

namespace sibyl::execute {

class Trace {
 public:
  virtual ~Trace() = default;
  // Records a step with the time of the call. Must be called by one thread at a time.
  virtual void step(std::string activity) = 0;
};

}  // namespace sibyl::execute
