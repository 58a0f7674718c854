// A solution as tables with names and definitions, and as statements to run. Internal to the designer.
#pragma once

#include <string>
#include <vector>

#include "advisor/design.h"

namespace sibyl::advisor {

// What a demand of the program stands for.
struct DemandOrigin {
  const Statement* statement = nullptr;
  size_t table = SIZE_MAX;  // whose upkeep it is; SIZE_MAX: a query
  size_t unit = 0, need = 0;
};

// `later`: the model at the horizon.
Design write_design(const Workload& workload, const Model& later, const CostModel& cost,
                    const std::string& mix, const std::vector<Layout>& tables, const Program& program,
                    const std::vector<DemandOrigin>& origins, const Solution& solution);

// Gives the layout a name that is not taken, names its columns and writes its definition.
DesignedTable write_table(const Model& model, const Model& later, Layout layout,
                          std::vector<std::string>& taken_names);

// The requests of one plan. `table_of[i]`: the designed table of candidate i; `lookup`: its number within the
// statement.
std::vector<PlannedStep> write_reads(const Workload& workload, const std::vector<DesignedTable>& tables,
                                     const std::vector<size_t>& table_of, const Need& need,
                                     const ReadPlan& plan, size_t lookup);

// `started rounded down to a multiple of 4 days`, as a period column's value.
std::string period_text(const DesignedTable& table);

// The writes of one unit of upkeep. `first_lookup`: the number of its first need's look-up.
std::vector<PlannedStep> write_changes(const Model& model, const CostModel& cost, const Statement& change,
                                       const UpkeepUnit& unit, const DesignedTable& table, size_t index,
                                       size_t first_lookup);

}  // namespace sibyl::advisor
