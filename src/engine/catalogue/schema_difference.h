// The changes between two schemas, for drivers' events.
#pragma once

#include <vector>

#include "schema/schema.h"

namespace sibyl::engine {

// As the definitions that led from one to the other would have reported them. What a keyspace contains is reported after its
// creation and before its drop. Keyspaces of the system are ignored.
std::vector<schema::Change> changes_between(const schema::Snapshot& before, const schema::Snapshot& after);

}  // namespace sibyl::engine
