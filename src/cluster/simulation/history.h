// The requests and responses of a simulation's clients, and a check that they are linearizable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/simulation/requests.h"

namespace sibyl::cluster::simulation {

struct Operation {
  Request request;
  Response response;  // `unknown` if the client gave up
  uint64_t called = 0, returned = 0;
};
std::string to_string(const Operation& operation);

class History {
 public:
  // Returns the operation's number.
  size_t call(const Request& request);
  void finish(size_t operation, const Response& response);

  // Returns an empty text if the operations on each key are linearizable, and otherwise the history of a key
  // that is not. Operations without a response count as unknown.
  std::string find_violation() const;
  size_t size() const { return operations_.size(); }

 private:
  std::vector<Operation> operations_;
  uint64_t clock_ = 0;
};

}  // namespace sibyl::cluster::simulation
