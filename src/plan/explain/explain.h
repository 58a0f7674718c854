// The partitions and rows that a statement will touch, derived from its plan: for EXPLAIN and for the
// advisor.
//
// Nothing is executed and no data is read. The numbers are those in the statement itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/prepared.h"

namespace sibyl::plan {

struct Explanation {
  // How partitions are found.
  enum class Access : uint8_t {
    rows,         // single rows, by the whole primary key
    partitions,   // partitions, by key
    index,        // partitions that an index names
    token_range,  // partitions in a token range
    full_scan,    // all partitions
  };

  // The use of one table. A batch has one for each of its statements.
  struct TableUse {
    schema::TablePtr table;
    Access access = Access::full_scan;
    std::string index;                   // Access::index: its name
    std::optional<uint64_t> partitions;  // number of named partitions, if known: 1, or the size of an IN
    // SELECT: true if it always reads exactly this many partitions (a full scan: all of them), whatever the
    // bound values and the data. False if it may read fewer.
    bool exact = false;
    bool writes = false;
    bool reads = false;                         // SELECT, or a write that reads first
    bool reversed = false;                      // rows in reverse clustering order
    std::vector<std::string> clustering;        // relations that bound the rows read: "c > 5"
    std::vector<std::string> filters;           // relations that are checked for each row
    std::vector<std::string> filtered_columns;  // columns of these relations
    bool sorts = false;                         // in memory
    bool aggregates = false, groups = false;    // all rows are combined to one, or to one per group
    bool has_limit = false;
  };

  // The plan as text, step by step, in the order of execution.
  struct Step {
    std::string action;      // "read partition", "filter", "write row", ...
    std::string target;      // a table, an index or columns
    std::string partitions;  // "1", "3", "n", "all"; empty if not applicable
    std::string rows;        // the rows of the partitions: "c > 5", "all"; empty if not applicable
    std::string detail;      // how and why
  };

  std::vector<TableUse> uses;
  std::vector<Step> steps;
  std::vector<std::string> warnings;  // parts that will be slow or large, and how to avoid them
};

// REQUIRES: `prepared` is the plan of `statement`.
Explanation explain(const cql::Statement& statement, const Prepared& prepared);

// The columns of EXPLAIN's result: step int, action text, target text, partitions text, rows text, detail
// text.
ResultMetadataPtr explanation_columns();

}  // namespace sibyl::plan
