// What differs between two schemas.
#pragma once

#include <string>

#include "schema/schema.h"

namespace sibyl::schema {

// Calls visit(name, old, new) for each name of two maps of a keyspace whose element is not the same in both;
// nullptr: there is none. In the order of names.
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

// Calls visit(old, new) for each keyspace that is not the same in both; one that does not exist is empty and
// has no name.
template <typename Visit>
void compare_keyspaces(const Snapshot& before, const Snapshot& after, Visit visit) {
  const Keyspace nothing;
  compare(before.keyspaces, after.keyspaces,
          [&](const std::string&, const KeyspacePtr& old, const KeyspacePtr& next) {
            visit(old ? *old : nothing, next ? *next : nothing);
          });
}

}  // namespace sibyl::schema
