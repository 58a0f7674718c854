// Which redefined prepared statements (plan::Redefinition) a connection's client may execute.
//
// Clients share statement ids. After a schema change, the first client that prepares a statement again makes
// its id valid for all, also for clients that still encode and decode by the old definition. So every
// connection is answered UNPREPARED once for each redefinition, unless the client has prepared the statement
// on it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "plan/prepared.h"

namespace sibyl::server {

// Thread-safe.
class RedefinedStatements {
 public:
  // Beyond it all are forgotten, which costs clients one PREPARE each.
  static constexpr size_t max_known = 1024;

  // Called for each PREPARE on the connection.
  void prepared(const plan::Prepared& plan);
  // False: answer UNPREPARED. Once it was false, it stays so until some client has prepared the statement:
  // requests that were sent before the client knew must not be served either. It need not be on this
  // connection, since drivers may choose any.
  bool admits(const plan::Prepared& plan);

 private:
  struct Known {
    std::shared_ptr<const plan::Redefinition> redefinition;  // keeps its address from being used again
    uint64_t prepares;                                       // by now; more have to come
  };
  // Under mutex_. The known one, or it with as many prepares.
  const Known& known(const plan::Prepared& plan, uint64_t prepares);

  std::mutex mutex_;
  std::unordered_map<const plan::Redefinition*, Known> known_;  // guarded by mutex_
};

}  // namespace sibyl::server
