// Proposed tables as CQL, and the choice of a way to split partitions. Internal to src/advisor.
#pragma once

#include <string>
#include <vector>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& names);

// The definition of a proposed table.
struct Shape {
  struct Column {
    std::string name, type;
    bool is_static = false;
  };
  struct Order {
    std::string name;
    bool descending = false;
  };
  std::string keyspace;  // empty: the session's keyspace
  std::string name;
  std::vector<Column> columns;  // all columns, including the key
  std::vector<std::string> partition;
  std::vector<Order> clustering;
  std::vector<std::string> options;  // options for WITH, copied from the old table

  bool has(std::string_view column) const;
  bool in_key(std::string_view column) const;
  // Appends a new column to the partition key.
  void add_to_partition(Column column);
  // Moves a clustering column to the partition key. Does nothing if it is not a clustering column.
  void promote(const std::string& column);
  // Removes a column from the partition key. REQUIRES: the key has other columns.
  void remove_from_partition(const std::string& column);
  // Returns `name`, or a longer name that no column has.
  std::string free_name(std::string name) const;
  // The CREATE TABLE statement, with a line end.
  std::string cql() const;
};

Shape shape_of(const schema::Table& table);

// A schema change that a finding asks for. All changes of one table are combined into one replacement table,
// so a report never defines a table twice.
struct Proposal {
  // A column appended to the partition key, and how its value is computed.
  struct Added {
    std::string name, type, meaning;
    std::string instead_of;  // the column that it replaces; empty: none
    double modulo = 0;       // modulo, if it is a hash prefix; 0: it is none
    double width = 0;        // length in seconds, if it is a time period; 0: it is none
  };
  std::optional<Shape> beside;           // an additional table; none: a changed version of `table`
  std::string table;                     // the table to change; empty: the finding's table
  std::vector<Added> partition;          // columns added to the partition key of the additional or changed
                                         // table
  std::vector<std::string> promoted;     // clustering columns that move to the partition key
  std::vector<Shape::Column> columns;    // new columns, and columns whose type changes
  std::vector<Shape::Order> clustering;  // the new clustering order; empty: unchanged
  bool reversed = false;                 // reverses all clustering directions
  bool unclustered = false;
  std::string last;  // the column to move to the end of the clustering key
  // If not 0, also propose a second table without `partition` that holds the first rows of each key.
  double first_rows = 0;
  bool first_reversed = false;  // the second table has the reverse order
  // If not 0, `partition` splits the table into at least this many partitions per old one. The split is
  // recomputed if other changes make rows longer.
  double least = 0;

  // A table whose rows are stored together with the rows of the first table that a group reads. In each pair,
  // the first column belongs to the other table, the second to this one.
  struct LookedUp {
    std::string table, from;                              // the table, and the table whose rows lead to it
    std::vector<std::pair<std::string, std::string>> by;  // compared columns of `from`; empty: unknown
    std::vector<std::pair<std::string, std::string>> columns;  // columns of the new table
    bool several = false;                                      // there is more than one row for each row of
                                                               // `from`
  };
  std::vector<LookedUp> looked_up;  // tables in the order of the reads

  // The table is used as a queue: rows are read from its front, in the order of `column`, and deleted there.
  struct Queue {
    std::string read, column;
    bool from_least = true;
    std::optional<double> tombstones;  // tombstones per read
    std::optional<double> rate;        // rows deleted from one partition per second
  };
  std::optional<Queue> queue;
};

// The table that the finding's proposal changes; empty if there is none.
std::string changed_table(const Finding& finding);

// Writes the CQL of all proposals, worst finding first. It picks unused names, combines all changes of a
// table into one replacement table, and says what to do with the old one.
void write_proposals(const ReviewModel& model, Review& review);

// Proposes an additional table.
void propose(Finding& finding, Shape shape);

constexpr size_t max_name_length = 48;  // Cassandra's limit for table names

// The name of a table without its `_by_…` suffix: "messages" for messages_by_channel.
std::string stem_of(const std::string& name);

// Makes the table that answers the query from one partition. Its key consists of the columns compared by =,
// the columns of the order and the ranges, and the old key, so that no row is lost. Returns false if the
// query compares nothing by =.
bool shape_for(const schema::Table& table, const cql::Select& select, Shape& shape);

// A SELECT of one partition with a line end: `SELECT * FROM t WHERE k = ? AND l = ?;`.
std::string select_by_key(const schema::Table& table);

// Proposes another order of the clustering columns if the query then reads one contiguous range of rows, and
// neither another statement nor an earlier proposal of this review needs the current order. Returns false
// otherwise.
bool fix_by_order(const ReviewModel& model, const StatementFacts& statement, const Review& review,
                  Finding& finding);

// Adds a fix for a statement that the database rejects without a hint.
void fix_refusal(const ReviewModel& model, const StatementFacts& statement, Finding& finding);

// The table that a SELECT reads. Without a plan, it is looked up by name. Returns nullptr if there is none.
const schema::Table* table_of(const ReviewModel& model, const StatementFacts& statement);

// The clustering column by which the table's rows can be divided into time periods; nullptr if there is none.
const schema::Column* time_column(const TableFacts& facts);
// Returns the time column, judging by types alone.
const schema::Column* time_column(const schema::Table& table);

// Statistics of the table `shape`, which holds the rows and values of `base`.
TableFacts facts_of(const TableFacts& base, const Shape& shape);
// Bytes by which rows of `shape` are longer than rows of `base`; at least 0.
double additional_bytes(const TableFacts& base, const Shape& shape);

// The result of split_partitions(), which compares ways to split partitions that are too large or too hot:
//
//  - clustering columns that every statement compares with = join the partition key
//  - time buckets, if rows have a time
//  - hash prefixes modulo 2, 4, 10 and the smallest modulo that fits
//  - several of these together
//  - a hash prefix with a second table for the first rows of each key
//
// It chooses the cheapest one that fits, by the declared rates. Without rates it chooses the one that reads
// the fewest partitions. Among time widths it chooses the narrowest that costs at most an eighth more. If no
// choice fits, none is chosen and `fix` is empty. Partitions of a single row cannot be split; `fix` then
// suggests a change of the application.
//
// `least` is the minimum modulo of a hash prefix, so that rows reach every node. `more_bytes` is the increase
// in row size due to other changes.
struct Split {
  std::vector<Choice> choices;
  std::string fix, cost;
  Proposal proposal;
  // True if the application has to change instead.
  bool is_advice() const { return proposal.partition.empty() && proposal.promoted.empty(); }
};
Split split_partitions(const ReviewModel& model, const TableFacts& table, double least,
                       double more_bytes = 0);
// The columns from whose hash the prefix is computed, as text: "id", "status and id".
std::string hash_source(const ReviewModel& model, const TableFacts& table, double modulo);

// Proposes an additional table. If its partitions would exceed the target, the table is split, the split is
// described in the finding's choices, fix and cost, and the function returns true. `base` has the rows and
// all columns of the new table. `statement` is the statement that reads it.
bool propose_within_target(const ReviewModel& model, const TableFacts& base, Shape shape,
                           const StatementFacts& statement, Finding& finding);

}  // namespace sibyl::advisor
