// Executes CQL on an engine in this process, or on a server over the network.
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
  std::vector<BoundValue> values;  // bound to the markers of the statement, which is then always prepared
};

class Target {
 public:
  virtual ~Target() = default;
  virtual Outcome run(const std::string& statement, const Mode& mode) = 0;
  // Closes and reopens. The keyspace in use is kept.
  virtual void restart() = 0;
};

// Returns views of the values, valid as long as `values`.
std::vector<types::ValueView> views_of(const std::vector<BoundValue>& values);

std::unique_ptr<Target> memory_target();
std::unique_ptr<Target> directory_target(std::string directory);
// Three servers that share their shards. Each statement and page goes to another one, while shards move at
// random.
std::unique_ptr<Target> cluster_target();
std::unique_ptr<Target> network_target(const std::string& host_and_port);

}  // namespace sibyl::script
