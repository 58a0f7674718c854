// Announces changes of the schema and of roles to the other servers of a cluster, and receives their
// announcements.
//
// A change is announced twice by the server that made it, which holds the catalogue:
//
//  1. Once it is durable. Every other server reads the schema and the roles again, and waits until its writes
//     with older plans have been passed to the store. When all have done so, the definition returns.
//  2. Once all servers use it. Only then records of dropped tables may be removed, and builds of new indexes
//     begin.
//
// Servers that join later read the newest schema first. If the server that made the change dies in between,
// the next change or build repeats the missing announcement.
#pragma once

#include <functional>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/options.h"
#include "engine/roles/roles.h"
#include "engine/schema_changes.h"
#include "engine/write_gate.h"

namespace sibyl::engine {

// Thread-safe.
class Announcements {
 public:
  // Borrowed.
  struct Parts {
    const Options& options;
    SchemaChanges& schema_changes;
    Roles& roles;
    WriteGate& gate;
    std::function<void()> on_settled;  // called when builds may begin
  };
  explicit Announcements(Parts parts) : of_(std::move(parts)) {}

  // Announces the newest schema, and the roles. Blocks until every live server uses them. Does nothing
  // without a cluster. REQUIRES: the caller does not hold the catalogue, because the other servers read it.
  base::Status announce();
  // Handles an announcement of another server.
  base::Status receive(base::BytesView message);
  // Makes this server use the newest durable schema.
  base::Status reload();
  // True if every server uses the newest schema that this server knows, or a newer one.
  bool is_settled() const;

 private:
  void settle(const base::Bytes& version);

  const Parts of_;
  mutable base::Mutex mutex_;
  base::Bytes settled_ SIBYL_GUARDED_BY(mutex_);  // version of the newest settled schema
};

}  // namespace sibyl::engine
