// The choice of tables and plans as an integer program, solved by CBC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/lookup.h"
#include "base/result.h"

namespace sibyl::advisor {

// Something that must be found: always, or when a table is chosen.
struct Demand {
  double weight = 1;
  std::optional<size_t> table;
  size_t group = 0;  // demands of a group share equal reads, when sharing is asked for
  std::vector<ReadPlan> plans;
};

struct Program {
  struct Table {
    double upkeep = 0;  // weighted cost of the writes that it asks for
    double bytes = 0;
    bool forced = false;
  };
  std::vector<Table> tables;
  std::vector<Demand> demands;
  std::optional<double> space_bytes;
  bool share = false;
  double seconds = 10;  // to give up after, with the best found
};

struct Solution {
  std::vector<bool> tables;
  // Of each demand, every read with the one table that it uses; nothing where nothing is needed.
  std::vector<std::optional<ReadPlan>> plans;
  std::vector<size_t> choices;  // their numbers among the demand's
  double cost = 0;
  double bound = 0;  // no choice costs less
  bool proven = false;
};

// Least cost; of equal ones the fewest tables, then the least space. Errors: nothing fits the space, or a
// demand that has no plan.
base::Result<Solution> solve(const Program& program);

}  // namespace sibyl::advisor
