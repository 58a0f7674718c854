// What a change of entities means for a table: which rows to delete and to write, and what has to be looked
// up first.
#pragma once

#include <vector>

#include "advisor/lookup.h"

namespace sibyl::advisor {

// Where a table's column gets its value from when a row is written.
struct UpkeepUnit {
  std::vector<Need> needs;
  // Where the table's nodes lie in the needs: need and node, or npos when the statement itself tells.
  struct Source {
    size_t need = SIZE_MAX;
    size_t node = 0;
  };
  std::vector<Source> sources;
  // The node that the statement changes, and the one it connects with.
  size_t node = 0;
  size_t other = SIZE_MAX;
  const Connection* connection = nullptr;
  bool remove = false, insert = false;
  double rows = 1;  // deleted, written, or both
};

// Empty when the table does not change.
std::vector<UpkeepUnit> upkeep_of(const Model& model, const CostModel& cost, const Statement& change,
                                  const Layout& table);
// Rows that a need finds.
double need_rows(const Model& model, const Need& need);

}  // namespace sibyl::advisor
