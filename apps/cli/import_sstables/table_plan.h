// The table on the server, and the statements that write the contents of SSTables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/migrate/part.h"
#include "sstable/data_reader.h"

namespace sibyl::cli::import_sstables {

// Statements for one column of a part.
struct ColumnPlan {
  size_t part_column = 0;             // index in Part::columns
  size_t remove = 0;                  // DELETE of the column; markers: timestamp, key
  size_t remove_element = 0;          // DELETE of an element of a map or set; markers: element, time, key
  std::vector<size_t> remove_fields;  // DELETE of each field of a user type; markers: timestamp, key
};

// One half of the table: its rows, or its static columns.
struct PartPlan {
  migrate::Part part;                         // with all statements
  std::map<std::string, ColumnPlan> columns;  // by name
  size_t remove_row = 0;                      // rows only; markers: timestamp, key
};

// DELETE of the rows with an equal prefix of the clustering key, and optionally bounds on the next column.
struct RangeStatement {
  size_t prefix = 0;
  std::string lower, upper;  // "", ">", ">=", "<" or "<="; in the order of values
  auto operator<=>(const RangeStatement&) const = default;
};

struct TablePlan {
  std::string name;
  bool is_counter = false;
  std::vector<std::string> partition_key;
  std::vector<std::string> clustering;
  std::vector<types::TypePtr> clustering_types;
  std::optional<PartPlan> static_part;
  std::optional<PartPlan> row_part;
  std::map<RangeStatement, size_t> ranges;  // in row_part; markers: timestamp, partition key, prefix, bounds
  size_t remove_partition = 0;              // in row_part; markers: timestamp, partition key
};

// Reads the table's definition from the server, and builds the statements that import its rows.
base::Result<TablePlan> plan_table(client::Connection& server, const std::string& keyspace,
                                   const std::string& table);

// Compares an SSTable's columns with the table's. Returns the columns that the table does not have (any
// more), or an error if a key or a column has another type.
base::Result<std::vector<std::string>> check_header(const TablePlan& plan, const sstable::Header& header,
                                                    const std::string& file);

}  // namespace sibyl::cli::import_sstables
