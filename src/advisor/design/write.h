// Turns a solution into tables with names and definitions, and into statements. Internal to
// src/advisor/design.
#pragma once

#include <string>
#include <vector>

#include "advisor/design/design.h"

namespace sibyl::advisor {

// The origin of a demand of the program.
struct DemandOrigin {
  const Statement* statement = nullptr;
  size_t table = SIZE_MAX;  // the table to maintain; SIZE_MAX: a query
  size_t unit = 0, need = 0;
};

// `later`: the model at the horizon.
Design write_design(const Workload& workload, const Model& later, const CostModel& cost,
                    const std::string& mix, const std::vector<Layout>& tables, const Program& program,
                    const std::vector<DemandOrigin>& origins, const Solution& solution);

// Gives the layout an unused name, names its columns and writes its definition.
DesignedTable write_table(const Model& model, const Model& later, Layout layout,
                          std::vector<std::string>& taken_names);

// Writes the requests of one plan. `table_of[i]` is the designed table of candidate i. `lookup` is the plan's
// number within the statement.
std::vector<PlannedStep> write_reads(const Workload& workload, const std::vector<DesignedTable>& tables,
                                     const std::vector<size_t>& table_of, const Requirement& need,
                                     const ReadPlan& plan, size_t lookup);

// A value as written in a statement: a literal, or a marker, which may need quotes. `column` is the name for
// a `?` marker.
std::string marker_text(const Operand& value, const std::string& column);

// The value of a period column as text: `started rounded down to a multiple of 4 days`.
std::string period_text(const DesignedTable& table);

// Writes the statements of one maintenance unit. `first_lookup` is the number of the look-up for its first
// requirement.
std::vector<PlannedStep> write_changes(const Model& model, const CostModel& cost, const Statement& change,
                                       const MaintenanceUnit& unit, const DesignedTable& table, size_t index,
                                       size_t first_lookup);

}  // namespace sibyl::advisor
