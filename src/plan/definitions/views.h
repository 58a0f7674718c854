// How definitions of base tables affect views. Internal to src/plan/definitions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/schema.h"

namespace sibyl::plan {

// Applies the effects of ALTER TABLE to the views of a table: new columns if a view selects all of them, new
// names of key columns, new masks. `keyspace` already contains the changed table. Returns the names of the
// views that changed.
std::vector<std::string> change_views(const schema::Table& before, const schema::Table& after,
                                      schema::Keyspace& keyspace);

}  // namespace sibyl::plan
