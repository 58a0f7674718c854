// What was done for one request, step by step: told while it runs, to whoever asked for it.
#pragma once

#include <string>

namespace sibyl::execute {

class Trace {
 public:
  virtual ~Trace() = default;
  // One thread at a time; each step is stamped with the moment of the call.
  virtual void step(std::string activity) = 0;
};

}  // namespace sibyl::execute
