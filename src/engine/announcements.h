// Tells the other servers of a cluster about changes of the schema and of roles, and hears of theirs.
//
// A change is announced twice by the server that made it, which holds the catalogue:
//
//  1. Once it is durable. Every other server reads the schema and the roles again, and waits until its writes with older plans are
//     with the store. When all have done so, the definition returns.
//  2. Then that all use it. Only now records of dropped tables may go, and builds of new indexes begin.
//
// Servers that join later read the newest schema first. If the server that made the change dies in between, the next change or build
// announces what it could not.
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
    std::function<void()> on_settled;  // builds may begin
  };
  explicit Announcements(Parts parts) : of_(std::move(parts)) {}

  // Announces the newest schema, and the roles. Blocks until every live server uses them. Does nothing without a cluster. REQUIRES: the
  // caller does not hold the catalogue, which the others read.
  base::Status announce();
  // An announcement of another server.
  base::Status receive(base::BytesView message);
  // Uses the newest schema that is durable.
  base::Status reload();
  // True if no server uses a schema before the newest that this one knows.
  bool is_settled() const;

 private:
  void settle(const base::Bytes& version);

  const Parts of_;
  mutable base::Mutex mutex_;
  base::Bytes settled_ SIBYL_GUARDED_BY(mutex_);  // the version
};

}  // namespace sibyl::engine
