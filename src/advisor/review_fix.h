// Tables that would be better, as CQL to paste, and the choice among ways to split a partition. Internal to
// the review.
#pragma once

#include <string>
#include <vector>

#include "advisor/review_model.h"

namespace sibyl::advisor {

// A table that is yet to be.
struct Shape {
  struct Column {
    std::string name, type;
    bool is_static = false;
  };
  struct Order {
    std::string name;
    bool descending = false;
  };
  std::string keyspace;  // empty: the session's
  std::string name;
  std::vector<Column> columns;  // all, the key's included
  std::vector<std::string> partition;
  std::vector<Order> clustering;

  bool has(std::string_view column) const;
  bool in_key(std::string_view column) const;
  // The name itself, or a longer one that no column has.
  std::string free_name(std::string name) const;
  // CREATE TABLE with a line end.
  std::string cql() const;
};

Shape shape_of(const schema::Table& table);

// The table that answers the query from one partition: what it compares by = first, then the order and the
// ranges, then the old key so that no row gets lost. False: nothing is compared by =.
bool shape_for(const schema::Table& table, const cql::Select& select, Shape& shape);

// Columns put at the end of the partition key, with a comment on how they are computed.
Shape with_partition_column(const schema::Table& table, const std::string& column, const std::string& type);

// A read of one partition: `SELECT * FROM t WHERE k = ? AND l = ?;` with a line end.
std::string select_by_key(const schema::Table& table);

// Mends a query that its clustering columns, in another sequence, would answer with one run of rows: when no
// other statement needs the old one. False: it would not.
bool fix_by_order(const ReviewModel& model, const StatementFacts& statement, Finding& finding);

// The clustering column by which a table's rows can be put into periods of time.
const schema::Column* time_column(const schema::Table& table);

// Ways to split the partitions of a table that are too large or too hot: time buckets where rows have a time,
// hash prefixes of 2, 4, 10 and the least that fits, and a copy in the order of reads beside the hash prefix.
// One is chosen: the cheapest that fits by the declared rates, else the one that reads fewest partitions.
struct Split {
  std::vector<Choice> choices;
  std::string fix, cql, cost;
};
Split split_partitions(const ReviewModel& model, const TableFacts& table);

}  // namespace sibyl::advisor
