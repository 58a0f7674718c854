// Designs tables for entities, relationships, queries and updates, and writes the statements that use them.
//
//   auto workload = parse_workload(text, "shop.cql");
//   auto design = design_tables(*workload, {});
//
// Pure, except for the clock that limits the search.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "advisor/design/candidates.h"
#include "advisor/design/maintenance.h"
#include "advisor/design/program.h"

namespace sibyl::advisor {

struct DesignOptions {
  std::string mix;  // empty: the first mix of the file
  CostModel cost;
  std::optional<double> space_bytes;  // overrides the file's target
  bool share = false;                 // execute a read once if several statements of a group need it
  bool use_layouts = true;            // the file's `@layout` tables are additional candidates
  double seconds = 8;                 // time limit of the integer program
  // If not empty: use only the tables of this `@layout` schema, plus the tables that their maintenance needs.
  // Groups that do not write run the schema's stated plans.
  std::string complete_schema;
};

// The source of a marker's value.
struct Parameter {
  enum class Source {
    given,   // the statement's own value
    found,   // the result of an earlier look-up
    bucket,  // in writes, computed from the clustering key; in reads, every bucket
    period,  // in writes, the period of the row's time; in reads, every period to be read
    chunk,   // in writes, the number of the chunk of a large value
  };
  Source source = Source::given;
  std::string operand;                          // given: as written in the statement
  size_t entity = 0, entity_field = 0;          // the field that the value belongs to
  Comparison comparison = Comparison::equal;    // how the column is compared with the value
  size_t lookup = 0;                            // found: index of the look-up within the statement
  FieldReference field = {SIZE_MAX, SIZE_MAX};  // found: the field of that look-up
  bool is_clustering = false;                   // part of the clustering key of the row written
  bool is_period_time = false;                  // the row's period is computed from this time
};

// One statement to run.
struct PlannedStep {
  enum class Kind { read, remove, insert, client };
  Kind kind = Kind::read;
  size_t table = 0;
  std::string cql;   // client: a description of what the client does
  std::string note;  // how often it runs, or where its values come from
  double partitions = 0, rows = 0, cost = 0;
  bool shared = false;  // already executed for another statement of the group

  // How to run the step. `parameters` has one entry per marker, in order. A read belongs to a look-up and
  // runs once for each row that the previous reads of that look-up found; `results` gives the field of each
  // result column. A write runs once for each combination of rows that `lookups` found.
  std::vector<Parameter> parameters;
  size_t lookup = 0;
  std::vector<FieldReference> results;
  std::vector<size_t> lookups;
  // For a read of a table that is split by time: the periods to read, and the bounds that time is compared
  // with. Periods are read from the newest on until there are `enough` rows; without `enough`, all are read.
  Read::Periods periods = Read::Periods::none;
  std::vector<Parameter> period_bounds;
  std::optional<double> enough;
  // For a client step: the conditions on the rows of the look-up, their order, and the number of rows to
  // keep.
  struct Term {
    FieldReference field;
    size_t entity = 0, entity_field = 0;
    bool descending = false;
  };
  std::vector<std::pair<FieldReference, Parameter>> checks;
  std::vector<Term> order;
  std::optional<double> keep;
  bool sorts = false;  // rows from several buckets must be merged, which counts as a sort
};

struct PlannedStatement {
  std::string name, group, text;
  bool query = true;
  double weight = 0, cost = 0;  // cost of one execution
  std::vector<PlannedStep> steps;
};

struct DesignedTable {
  Layout layout;  // layout.name is the table's name
  std::vector<std::pair<FieldReference, std::string>> columns;
  std::string definition;                                  // the CREATE TABLE statement
  std::vector<std::string> read_by;                        // names of statements
  std::string bucket_column, period_column, chunk_column;  // empty: none
  double rows = 0, bytes = 0;
  double horizon_rows = 0, horizon_bytes = 0;  // at the horizon, if it grows
  double largest_partition_bytes = 0;          // at the horizon
  double hottest_share = 0;                    // share of the table's rows in its largest partition
  std::string hot_column;  // the partition key column with an uneven distribution; empty: none
  double hot_value_share = 0;

  const std::string& column(FieldReference field) const;
};

struct Design {
  std::string mix;
  std::vector<DesignedTable> tables;
  std::vector<PlannedStatement> statements;
  double queries = 0, updates = 0;  // weighted costs
  double bound = 0;                 // lower bound of the cost of any choice of candidates
  bool proven = false;
  bool shared = false;
  double bytes = 0, horizon_bytes = 0;  // stored bytes: now, and at the horizon
  double horizon = 0;                   // in seconds; 0: nothing grows
  size_t candidates = 0, plans = 0;
  double seconds = 0;
  std::vector<std::string> assumptions;  // assumptions for numbers that the workload does not declare

  double total() const { return queries + updates; }
  double gap() const { return total() > 0 ? std::max(0.0, (total() - bound) / total()) : 0; }
};

base::Result<Design> design_tables(const Workload& workload, const DesignOptions& options);

// Prints the design as a workload of tables that can be reviewed: the definitions with their statistics, and
// for each query a group of the statements to run. Weights become rates, unless they belong to a mix.
std::string print_design(const Workload& workload, const Design& design);

struct Measurement;

// Render the design as text with runnable CQL, as a Markdown page, or as JSON (docs/advisor-json.md describes
// the members). With a measurement, the design and the measurement are one document.
std::string render_text(const Design& design, const Measurement* measurement = nullptr);
std::string render_markdown(const Design& design, const Measurement* measurement = nullptr);
std::string render_json(const Design& design, const Measurement* measurement = nullptr);

}  // namespace sibyl::advisor
