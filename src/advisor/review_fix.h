// Tables that would be better, as CQL to paste, and the choice among ways to split a partition. Internal to
// the review.
#pragma once

#include <string>
#include <vector>

#include "advisor/review_model.h"

namespace sibyl::advisor {

// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& names);

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
  std::vector<std::string> options;  // as WITH takes them: what the old table says of its rows holds on

  bool has(std::string_view column) const;
  bool in_key(std::string_view column) const;
  // Puts a new column at the end of the partition key.
  void add_to_partition(Column column);
  // Removes a column, which is in the partition key beside others.
  void leave_partition(const std::string& column);
  // The name itself, or a longer one that no column has.
  std::string free_name(std::string name) const;
  // CREATE TABLE with a line end.
  std::string cql() const;
};

Shape shape_of(const schema::Table& table);

// What a finding wants of the schema. Changes of one table become one new table, so that no report defines a
// table in two ways.
struct Proposal {
  // A column at the end of the partition key, and how it is computed.
  struct Added {
    std::string name, type, meaning;
    std::string instead_of;  // the column whose place it takes; empty: none
    double modulo = 0;       // of a hash prefix; 0: it is none
    double width = 0;        // of a period of time, in seconds; 0: it is none
  };
  std::optional<Shape> beside;           // a table beside the others; none: `table`, changed
  std::string table;                     // empty: the finding's
  std::vector<Added> partition;          // of either
  std::vector<Shape::Column> columns;    // new ones, and those of another type
  std::vector<Shape::Order> clustering;  // the sequence; empty: as it is
  bool reversed = false;                 // its directions
  bool unclustered = false;
  std::string last;  // put at the end of the clustering
  // And a second table, without `partition`, that holds the first rows of each key; 0: none.
  double first_rows = 0;
  bool first_reversed = false;  // those of the other direction
  // `partition` splits the table, and would do so anew where other changes make rows longer; so many
  // partitions at least for each that there is. 0: it does not.
  double least = 0;

  // A table whose rows are stored beside those of the first one that a group reads. Pairs name a column
  // elsewhere, and the one here.
  struct LookedUp {
    std::string table, from;  // its name, and that of the table whose rows lead to it
    std::vector<std::pair<std::string, std::string>> by;       // of `from`; empty: nobody knows
    std::vector<std::pair<std::string, std::string>> columns;  // of the new table
    bool several = false;                                      // rows, for each that leads to it
  };
  std::vector<LookedUp> looked_up;  // in the order of the reads

  // The table is a queue: rows are read from its front, by the named column, and deleted there.
  struct Queue {
    std::string read, column;
    bool from_least = true;
    std::optional<double> tombstones;  // that a read meets
    std::optional<double> rate;        // rows that one partition loses in a second
  };
  std::optional<Queue> queue;
};

// The table that the finding's proposal changes; empty: none.
std::string changed_table(const Finding& finding);

// Writes the CQL of all proposals, worst finding first: names that are free, one new table for all changes of
// one, and what becomes of the old one.
void write_proposals(const ReviewModel& model, Review& review);

// A new table beside the others.
void propose(Finding& finding, Shape shape);

constexpr size_t longest_name = 48;  // that Cassandra takes for a table

// What a table holds, without what it is found by: messages_by_channel is about messages.
std::string stem_of(const std::string& name);

// The table that answers the query from one partition: what it compares by = first, then the order and the
// ranges, then the old key so that no row gets lost. False: nothing is compared by =.
bool shape_for(const schema::Table& table, const cql::Select& select, Shape& shape);

// A read of one partition: `SELECT * FROM t WHERE k = ? AND l = ?;` with a line end.
std::string select_by_key(const schema::Table& table);

// Mends a query that its clustering columns, in another sequence, would answer with one run of rows: when no
// other statement, nor what the review has proposed so far, needs the old one. False: it would not.
bool fix_by_order(const ReviewModel& model, const StatementFacts& statement, const Review& review,
                  Finding& finding);

// What to do about a statement that the database refuses without a hint.
void fix_refusal(const ReviewModel& model, const StatementFacts& statement, Finding& finding);

// The table that a SELECT reads; by its name when it has no plan. nullptr: there is none.
const schema::Table* table_of(const ReviewModel& model, const StatementFacts& statement);

// The clustering column by which a table's rows can be put into periods of time.
const schema::Column* time_column(const schema::Table& table);

// What `shape` stores, with the rows and values of the table that it is made from.
TableFacts facts_of(const TableFacts& base, const Shape& shape);
// Bytes by which its rows are longer than those of the table that it is made from; not below 0.
double bytes_more(const TableFacts& base, const Shape& shape);

// Ways to split the partitions of a table that are too large or too hot: time buckets where rows have a time,
// hash prefixes of 2, 4, 10 and the least that fits, both together, and a second table for the first rows
// beside the hash prefix. One is chosen: the cheapest that fits by the declared rates, else the one that
// reads fewest partitions; among widths of time the narrowest that costs at most an eighth more. Of
// partitions that have one row: what can be done then. `least`: partitions of a hash prefix, at least, for
// rows to reach every node; `more_bytes`: of a row, by what else is to change. None is chosen, and `fix` is
// empty, when none fits.
struct Split {
  std::vector<Choice> choices;
  std::string fix, cost;
  Proposal proposal;  // its `partition` may be empty: the application has to change
};
Split split_partitions(const ReviewModel& model, const TableFacts& table, double least,
                       double more_bytes = 0);
// What a hash prefix that spreads the table is made of: "id", "status and id".
std::string hash_source(const ReviewModel& model, const TableFacts& table, double modulo);

// Proposes a new table beside the others. Where its partitions are to be above the target it is split, which
// the finding's choices, fix and cost then tell, and true is returned. `base` has the rows and all columns of
// the new table, `statement` is what that is read by.
bool propose_within_target(const ReviewModel& model, const TableFacts& base, Shape shape,
                           const StatementFacts& statement, Finding& finding);

}  // namespace sibyl::advisor
