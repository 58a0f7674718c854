// What a statement will touch, told from its plan: for EXPLAIN, and for whoever judges statements.
//
// Nothing is run and no data is looked at: numbers are those the statement itself gives.
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
    token_range,  // those whose token lies in a range
    full_scan,    // all of them
  };

  // What happens to one table. A batch has one for each of its statements.
  struct TableUse {
    schema::TablePtr table;
    Access access = Access::full_scan;
    std::string index;                   // Access::index: its name
    std::optional<uint64_t> partitions;  // how many are named, when the statement says it: 1, or an IN's
    // A SELECT: exactly so many are read (of a full scan: all), whatever is bound and stored. False: at most.
    bool exact = false;
    bool writes = false;
    bool reads = false;                         // SELECT, or reads before it writes
    bool reversed = false;                      // rows against the clustering order
    std::vector<std::string> clustering;        // relations that bound the rows read: "c > 5"
    std::vector<std::string> filters;           // relations that are checked row by row
    std::vector<std::string> filtered_columns;  // those they are about
    bool sorts = false;                         // in memory
    bool aggregates = false, groups = false;    // rows become one, or one a group
    bool has_limit = false;
  };

  // The same in words, in the order of what happens.
  struct Step {
    std::string action;      // "read partition", "filter", "write row", ...
    std::string target;      // the table, index or columns it is about
    std::string partitions;  // "1", "3", "n", "all"; empty where it makes no sense
    std::string rows;        // which of their rows: "c > 5", "all"; empty where it makes no sense
    std::string detail;      // how and why
  };

  std::vector<TableUse> uses;
  std::vector<Step> steps;
  std::vector<std::string> warnings;  // what will be slow or large, and what would help
};

// REQUIRES: `prepared` is the plan of `statement`.
Explanation explain(const cql::Statement& statement, const Prepared& prepared);

// The columns of EXPLAIN's answer: step int, action text, target text, partitions text, rows text, detail
// text.
ResultMetadataPtr explanation_columns();

}  // namespace sibyl::plan
