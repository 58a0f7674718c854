// A part is one half of a table: its rows, or the static columns of its partitions. Each half is read by a
// statement of its own and written by a few prepared statements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/migrate/source_schema.h"
#include "types/type.h"

namespace sibyl::cli::migrate {

struct PartColumn {
  std::string name;
  types::TypePtr type;         // from the result's metadata; set by set_types()
  bool is_multi_cell = false;  // an unfrozen collection or user type
  bool has_times = true;       // the source returns its WRITETIME and TTL
  size_t position = 0;         // position of the value in a result row; write times and TTLs follow it
  size_t statement = 0;        // multi-cell: the statement that adds elements or fields

  bool is_list() const { return is_multi_cell && type->kind() == types::Kind::list; }
};

// Statements of a part by their purpose. The statements of columns follow.
inline constexpr size_t insert_statement = 0;  // INSERT of the key and all single-cell columns
inline constexpr size_t update_statement = 1;  // UPDATE of all single-cell columns
inline constexpr size_t first_column_statement = 2;

struct Part {
  std::string keyspace, table;
  bool is_static = false;
  bool is_counter = false;
  std::vector<std::string> partition_key;
  std::vector<std::string> key;     // the partition key, and unless static the clustering key
  std::vector<PartColumn> columns;  // without the key
  std::vector<std::string> statements;
  std::string select;       // reads a token range: two markers
  std::string read_target;  // the target's lists (or counters) of one row; empty if there are none
  uint64_t weight = 1;      // estimated size, for the estimate of the time left

  // "shop.orders", or "shop.orders (static)".
  std::string title() const;
  std::string quoted_name() const;
};

// Returns the parts of a table: its rows, and its static columns if it has any. The select statements ask for
// WRITETIME and TTL of unfrozen collections only if `has_element_times`, which Cassandra knows since 5.0.
std::vector<Part> parts_of(const SourceTable& table, bool has_element_times);

// Sets the columns' types from a prepared select, and makes the statements that write to the target.
base::Status set_types(Part& part, const client::Prepared& select);

// The select statement for rows with a given key: one marker for each column of the key.
std::string select_one(const Part& part);

}  // namespace sibyl::cli::migrate
