// The choice of tables and plans as an integer program, solved by CBC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/design/lookup.h"
#include "base/result.h"

namespace sibyl::advisor {

// Data that must be found: always, or only if `table` is chosen.
struct Demand {
  double weight = 1;
  std::optional<size_t> table;
  size_t group = 0;  // if `share` is set, demands of a group share equal reads
  std::vector<ReadPlan> plans;
};

struct Program {
  struct Table {
    double maintenance = 0;  // weighted cost of the writes that keep the table current
    double bytes = 0;
    // The factor for `bytes`. If choices cost the same, the one with the smallest sum of weighted bytes wins.
    double preference = 1;
    bool forced = false;
  };
  std::vector<Table> tables;
  std::vector<Demand> demands;
  std::optional<double> space_bytes;
  bool share = false;
  double seconds = 10;  // time limit; the best solution so far is returned
};

struct Solution {
  std::vector<bool> tables;
  // The chosen plan of each demand, with one table per read; none if the demand's table is not chosen.
  std::vector<std::optional<ReadPlan>> plans;
  std::vector<size_t> choices;  // index of the chosen plan in Demand::plans
  double cost = 0;
  double bound = 0;  // lower bound of the cost of any choice
  bool proven = false;
};

// Minimises the cost, then the number of tables, then the space. Returns an error if no choice fits the space
// limit, or if a demand has no plan.
base::Result<Solution> solve(const Program& program);

}  // namespace sibyl::advisor
