// Finds the differences between two schemas.
#pragma once

#include <string>

#include "base/persistent_map.h"
#include "schema/schema.h"

namespace sibyl::schema {

// Calls visit(name, old, new), in name order, for each name whose element differs between two maps of a
// keyspace. nullptr: there is no such element. Skips what the maps share, so that comparing a schema with the
// next one takes little time however many tables they have.
template <typename Map, typename Visit>
void compare(const Map& before, const Map& after, Visit visit) {
  const typename Map::mapped_type none;
  base::compare_maps(before, after, [&](const auto& name, const auto* old, const auto* next) {
    visit(name, old != nullptr ? *old : none, next != nullptr ? *next : none);
  });
}

// Calls visit(old, new) for each keyspace that differs. A keyspace that does not exist is passed as an empty
// one without a name.
template <typename Visit>
void compare_keyspaces(const Snapshot& before, const Snapshot& after, Visit visit) {
  const Keyspace nothing;
  compare(before.keyspaces, after.keyspaces,
          [&](const std::string&, const KeyspacePtr& old, const KeyspacePtr& next) {
            visit(old ? *old : nothing, next ? *next : nothing);
          });
}

}  // namespace sibyl::schema
