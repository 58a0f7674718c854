// What views ask of the definitions of their base tables. Private to this room.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/schema.h"

namespace sibyl::plan {

// Gives the views of a table what ALTER TABLE did to it: new columns where they select all of them, new names
// of key columns, new masks. `keyspace` holds the changed table already. Returns the names of those that
// changed.
std::vector<std::string> change_views(const schema::Table& before, const schema::Table& after,
                                      schema::Keyspace& keyspace);

}  // namespace sibyl::plan
