// The redefined prepared statements (plan::Redefinition) that a connection's client may execute.
//
// Clients share statement ids. After a schema change, the first client that prepares a statement again makes
// its id valid for all clients, including those that still encode and decode by the old definition. So every
// connection gets UNPREPARED once for each redefinition, unless its client has prepared the statement on that
// connection.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/mutex.h"
#include "plan/prepared.h"

namespace sibyl::server {

// Thread-safe.
class RedefinedStatements {
 public:
  // With more entries than this, all are dropped. Each dropped entry costs its client one PREPARE.
  static constexpr size_t max_known = 1024;

  // Called for each PREPARE on the connection.
  void prepared(const plan::Prepared& plan);
  // Returns false if the request must be answered UNPREPARED. It then stays false until some client has
  // prepared the statement, because requests that were already sent must not be served either. The PREPARE
  // may come on any connection, since drivers choose one freely.
  bool admits(const plan::Prepared& plan);

 private:
  struct Known {
    std::shared_ptr<const plan::Redefinition> redefinition;  // owned, so that its address is not reused
    // The count of PREPAREs when this entry was made; the statement is admitted once the count is higher.
    uint64_t prepares;
  };
  // Finds the plan's entry, or creates it with `prepares`.
  const Known& known(const plan::Prepared& plan, uint64_t prepares) SIBYL_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::unordered_map<const plan::Redefinition*, Known> known_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::server
