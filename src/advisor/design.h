// From entities, relationships, queries and changes to tables, and to every statement that has to be run.
//
//   auto workload = parse_workload(text, "shop.cql");
//   auto design = design_tables(*workload, {});
//
// Pure apart from the clock that limits the search.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "advisor/candidates.h"
#include "advisor/program.h"
#include "advisor/upkeep.h"

namespace sibyl::advisor {

struct DesignOptions {
  std::string mix;  // empty: the file's first
  CostModel cost;
  std::optional<double> space_bytes;  // instead of the file's target
  bool share = false;                 // reads that several statements of a group need are done once
  bool use_layouts = true;            // tables that the file's `@layout`s propose are candidates, too
  double seconds = 8;                 // for the integer program
  // Not empty: only the tables of this `@layout` schema, with what their upkeep needs beside them. Groups
  // that do not write run the schema's stated plans.
  std::string complete_schema;
};

// Where a marker's value comes from.
struct Parameter {
  enum class Source {
    given,   // the statement itself
    found,   // a look-up before
    bucket,  // a write: computed from the clustering key; a read: each one
    period,  // a write: of the time that the row has; a read: each one that is asked
  };
  Source source = Source::given;
  std::string operand;                          // given: as the statement writes it
  size_t entity = 0, entity_field = 0;          // whose values it has
  Comparison comparison = Comparison::equal;    // how a column is compared with it
  size_t lookup = 0;                            // found: by which look-up of the statement,
  FieldReference field = {SIZE_MAX, SIZE_MAX};  // and which field of what that one looks for
  bool clusters = false;                        // belongs to the clustering key of what is written
  bool dates = false;                           // is the time that its period is made of
};

// One statement to run.
struct PlannedStep {
  enum class Kind { read, remove, insert, client };
  Kind kind = Kind::read;
  size_t table = 0;
  std::string cql;   // client: what the client does by itself
  std::string note;  // how often, or where values come from
  double partitions = 0, rows = 0, cost = 0;
  bool shared = false;  // done already for another statement of the group

  // How to run it: a value for each marker, in their order. Reads belong to a look-up, each read of which
  // runs once for each row that those before it found; `results` names the field in each column. Writes run
  // once for each combination of the rows that `lookups` found.
  std::vector<Parameter> parameters;
  size_t lookup = 0;
  std::vector<FieldReference> results;
  std::vector<size_t> lookups;
  // A read of a table that is split by time: which periods are asked, and the values that time is compared
  // with. From the newest on until there are `enough` rows, else all of them.
  Read::Periods periods = Read::Periods::none;
  std::vector<Parameter> period_bounds;
  std::optional<double> enough;
  // client: what the rows of the look-up must satisfy, the sequence that they are put into, and how many of
  // the first are kept
  struct Term {
    FieldReference field;
    size_t entity = 0, entity_field = 0;
    bool descending = false;
  };
  std::vector<std::pair<FieldReference, Parameter>> checks;
  std::vector<Term> order;
  std::optional<double> keep;
  bool sorts = false;  // at the price of a sort: what comes from several buckets is in order in each of them
};

struct PlannedStatement {
  std::string name, group, text;
  bool query = true;
  double weight = 0, cost = 0;  // cost of one execution
  std::vector<PlannedStep> steps;
};

struct DesignedTable {
  Layout layout;  // its name is the table's
  std::vector<std::pair<FieldReference, std::string>> columns;
  std::string definition;                    // CREATE TABLE
  std::vector<std::string> read_by;          // statements
  std::string bucket_column, period_column;  // empty: none
  double rows = 0, bytes = 0;
  double horizon_rows = 0, horizon_bytes = 0;  // the same where it grows
  double largest_partition_bytes = 0;          // at the horizon
  double hottest_share = 0;                    // of the table's rows in its largest partition
  std::string hot_column;  // of the partition key: values occur unevenly; empty when evenly
  double hot_value_share = 0;

  const std::string& column(FieldReference field) const;
};

struct Design {
  std::string mix;
  std::vector<DesignedTable> tables;
  std::vector<PlannedStatement> statements;
  double queries = 0, updates = 0;  // weighted costs
  double bound = 0;                 // no choice among the candidates costs less
  bool proven = false;
  bool shared = false;
  double bytes = 0, horizon_bytes = 0;  // as they are stored: now, and at the horizon
  double horizon = 0;                   // in seconds; 0: nothing grows
  size_t candidates = 0, plans = 0;
  double seconds = 0;

  double total() const { return queries + updates; }
  double gap() const { return total() > 0 ? std::max(0.0, (total() - bound) / total()) : 0; }
};

base::Result<Design> design_tables(const Workload& workload, const DesignOptions& options);

// The same as a workload of tables, for a review: the definitions with their statistics, and for each
// query a group of what is to be run. Weights become rates, unless they are those of a mix.
std::string print_design(const Workload& workload, const Design& design);

struct Measurement;

// What can be read at a glance and run as CQL, the same as a page, and as JSON (docs/advisor-json.md has its
// members). With a measurement of it as one document.
std::string render_text(const Design& design, const Measurement* measurement = nullptr);
std::string render_markdown(const Design& design, const Measurement* measurement = nullptr);
std::string render_json(const Design& design, const Measurement* measurement = nullptr);

}  // namespace sibyl::advisor
