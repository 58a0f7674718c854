// The changes between two schemas, for drivers' events.
#pragma once

#include <vector>

#include "schema/schema.h"

namespace sibyl::engine {

// Returns the changes as the definitions that led from one schema to the other would have reported them. The
// contents of a keyspace are reported after its creation and before its drop. Keyspaces of the system are
// ignored.
std::vector<schema::Change> changes_between(const schema::Snapshot& before, const schema::Snapshot& after);

}  // namespace sibyl::engine
