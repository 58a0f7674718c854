// Finds the differences between two schemas.
#pragma once

#include <string>

#include "schema/schema.h"

namespace sibyl::schema {

// Calls visit(name, old, new), in name order, for each name whose element differs between two maps of a
// keyspace. nullptr: there is no such element.
template <typename Map, typename Visit>
void compare(const Map& before, const Map& after, Visit visit) {
  const typename Map::mapped_type none;
  auto old = before.begin();
  auto next = after.begin();
  while (old != before.end() || next != after.end()) {
    if (old == before.end() || (next != after.end() && next->first < old->first)) {
      visit(next->first, none, next->second);
      ++next;
    } else if (next == after.end() || old->first < next->first) {
      visit(old->first, old->second, none);
      ++old;
    } else {
      if (old->second != next->second) visit(old->first, old->second, next->second);
      ++old;
      ++next;
    }
  }
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
