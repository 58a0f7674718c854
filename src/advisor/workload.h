// The workload file: ordinary CQL, with structured comments for what CQL cannot say.
//
// docs/advisor-format.md has the grammar. Reading is pure: text in, a Workload out, or an Error whose message
// starts with FILE:LINE:COLUMN and says what was expected. A Workload is a value; it may be shared by threads
// once it is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advisor/model.h"
#include "base/result.h"

namespace sibyl::advisor {

// What stands for a value in a statement: `?`, `:name` or a literal, as written. Equal names within a group
// stand for equal values.
struct Operand {
  std::string text;

  bool is_named() const { return text.starts_with(':'); }
  bool is_marker() const { return text == "?" || is_named(); }
};

enum class Comparison { equal, less, less_or_equal, greater, greater_or_equal };
const char* to_string(Comparison comparison);

struct Predicate {
  FieldReference field;
  Comparison comparison = Comparison::equal;
  Operand value;
};

struct OrderTerm {
  FieldReference field;
  bool descending = false;
};

struct Assignment {
  size_t field = 0;  // of the statement's entity
  Operand value;
};

// The statement's entity is connected along a step with the entity whose key is `value`, or disconnected.
struct Connection {
  Step step;
  Operand value;
  bool disconnect = false;
};

enum class StatementKind { select, insert, update, remove };

// One `name=value`, as written; the readers below understand the units.
struct Option {
  std::string name, value;
  uint32_t line = 0, column = 0;
};
using Options = std::vector<Option>;
const Option* find_option(const Options& options, std::string_view name);

// A statement over entities. The graph's root is the entity it reads or changes.
struct Statement {
  std::string name, group;
  StatementKind kind = StatementKind::select;
  Graph graph;
  // select
  std::vector<FieldReference> select;
  std::vector<Predicate> where;
  std::vector<OrderTerm> order;
  std::optional<double> limit;
  // insert, update, remove
  Operand key;
  std::vector<Assignment> set;
  std::vector<Connection> connections;

  Options options;
  uint32_t line = 0;

  size_t entity() const { return graph.nodes()[0].entity; }
  bool is_query() const { return kind == StatementKind::select; }
};

// Statements that run together, with a weight per mix.
struct Group {
  std::string name;
  bool write = false;
  std::vector<std::pair<std::string, double>> weights;  // of each mix, in the order of the file
  uint32_t line = 0;
};

// Weights of another mix, those of write groups multiplied.
struct Mix {
  std::string name, of;
  double write = 1;
  uint32_t line = 0;
};

// A table over a graph, as `@layout` declares it: for comparison, and as a candidate.
struct Layout {
  std::string schema, name;
  Graph graph;
  std::vector<FieldReference> partition, clustering, values;
  std::vector<bool> descending;  // of each clustering field
  double buckets = 1;            // partitions that each partition key is spread over, by a hash
  // And by time: each holds the rows of one period.
  struct Period {
    FieldReference field;  // of the clustering
    double seconds = 0;
    double count = 1;  // periods that are kept at the horizon
    double share = 1;  // of a key's rows in one of them
    double rows = 1;   // of a middling key in one of them
  };
  std::optional<Period> period;
  uint32_t line = 0;
};

// How a hand-made schema answers a group or a statement, as `@plan` declares it.
struct StatedRead {
  size_t layout = 0;
  std::vector<FieldReference> equal;  // beyond the partition key
  bool range = false;
  std::optional<double> limit;
};
struct StatedWrite {
  size_t layout = 0;
  bool remove = false;
};
// Look-ups, each a chain of reads where one begins with what the one before found; then writes of every row
// that they found.
struct StatedUnit {
  std::vector<std::vector<StatedRead>> lookups;
  std::vector<StatedWrite> writes;
};
struct StatedPlan {
  std::string schema, name;
  std::vector<StatedUnit> units;
  uint32_t line = 0;
};

// A statement of the file that is plain CQL, with the `@query` or `@write` that stands before it.
struct CqlStatement {
  std::string text;
  uint32_t line = 1;
  std::string name, group;  // empty: no annotation
  bool write = false;
  Options options;
};

// `@table` and `@column`: statistics of tables that the file's DDL creates.
struct TableStatistics {
  std::string table, column;  // column empty: of the table
  Options options;
  uint32_t line = 0;
};

struct Target {
  std::optional<double> partition_bytes, partition_rate, space_bytes;
  Options options;  // all, those included
};

struct Workload {
  std::string file;
  Model model;
  std::vector<Mix> mixes;
  std::vector<Group> groups;
  std::vector<Statement> statements;
  std::vector<Layout> layouts;
  std::vector<StatedPlan> plans;
  std::vector<CqlStatement> cql;
  std::vector<TableStatistics> statistics;
  Target target;

  // Every mix that a group or `@mix` names, in the order of the file.
  std::vector<std::string> mix_names() const;
  // Executions per unit of time in the mix; without mixes the statement's rate, else 1.
  double weight(const std::string& group, const Options& options, const std::string& mix) const;
  double weight(const Statement& statement, const std::string& mix) const {
    return weight(statement.group, statement.options, mix);
  }
};

base::Result<Workload> parse_workload(std::string_view text, std::string_view file);
// A file that reads as the same workload.
std::string print_workload(const Workload& workload);
std::string print_statement(const Model& model, const Statement& statement);

// Values of options: 2e5, 200k, 1M; 100MB, 4KiB; 10ms, 3y in seconds; 160/s, 3/d per second; zipf(0.9).
std::optional<double> read_number(std::string_view text);
std::optional<double> read_bytes(std::string_view text);
std::optional<double> read_seconds(std::string_view text);
std::optional<double> read_rate(std::string_view text);
std::optional<double> read_zipf(std::string_view text);

// The candidate that is written most like `word`, when one is close; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sibyl::advisor
