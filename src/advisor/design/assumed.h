// Assumptions for numbers that an entity model does not declare. Internal to src/advisor/design.
#pragma once

#include <string>
#include <vector>

#include "advisor/workload/growth.h"

namespace sibyl::advisor {

struct Assumed {
  // The workload with assumed numbers of values. Entities that start empty and grow have the count that they
  // reach at the horizon, because costs of empty tables say nothing.
  Workload workload;
  Model today;                     // the same model with today's counts
  std::vector<std::string> notes;  // what was assumed, for the report
};

// Assumes few values for a field that is compared with literals, even if their number is not declared: as
// many as the literals of all statements, and at least two.
Assumed assume(const Workload& workload);

}  // namespace sibyl::advisor
