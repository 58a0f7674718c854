// Table maintenance: the rows that must be deleted and written in a table when an entity changes, and the
// look-ups that must come first.
#pragma once

#include <vector>

#include "advisor/design/lookup.h"

namespace sibyl::advisor {

// One set of rows of a table that a change deletes or writes.
struct MaintenanceUnit {
  std::vector<Requirement> needs;
  // For each node of the table, the requirement and the node in it that supply the values; npos if the
  // statement itself supplies them.
  struct Source {
    size_t need = SIZE_MAX;
    size_t node = 0;
  };
  std::vector<Source> sources;
  // The node that the statement changes, and the node that the statement connects with it.
  size_t node = 0;
  size_t other = SIZE_MAX;
  const Connection* connection = nullptr;
  bool remove = false, insert = false;
  double rows = 1;  // number of rows that are deleted, written, or both
};

// Returns an empty vector if the change does not affect the table.
std::vector<MaintenanceUnit> maintenance_of(const Model& model, const CostModel& cost,
                                            const Statement& change, const Layout& table);
// The number of rows that a requirement finds.
double requirement_rows(const Model& model, const Requirement& need);

}  // namespace sibyl::advisor
