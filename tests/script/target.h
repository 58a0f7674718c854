// Something that answers CQL: an engine in this process, or a server over the network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/transcript.h"

namespace sibyl::script {

struct Mode {
  bool prepared = false;  // prepare every statement, then execute it
  int page_size = 0;      // fetch rows in pages of this size; 0: all at once
  std::optional<int32_t> now_seconds;
  std::vector<BoundValue> values;  // bound to the statement's markers; then it is always prepared
};

class Target {
 public:
  virtual ~Target() = default;
  virtual Outcome run(const std::string& statement, const Mode& mode) = 0;
  // Closes and opens again; the keyspace in use stays in use.
  virtual void restart() = 0;
};

// Views of the values; they live as long as `values` does.
std::vector<types::ValueView> views_of(const std::vector<BoundValue>& values);

std::unique_ptr<Target> memory_target();
std::unique_ptr<Target> directory_target(std::string directory);
std::unique_ptr<Target> network_target(const std::string& host_and_port);

}  // namespace sibyl::script
