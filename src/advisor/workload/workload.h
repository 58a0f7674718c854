// The workload file: CQL with structured comments for facts that CQL cannot express.
//
// The grammar is in docs/advisor-format.md. Parsing is pure: it returns a Workload, or an Error whose message
// starts with FILE:LINE:COLUMN and says what was expected. A Workload is a plain value; it may be shared by
// threads after parsing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advisor/workload/model.h"
#include "base/result.h"

namespace sibyl::advisor {

// A value in a statement as written: `?`, `:name` or a literal. Equal names within a group denote equal
// values.
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
  size_t field = 0;  // index of a field of the statement's entity
  Operand value;
  // For a counter, `add` and `subtract` change it by the value.
  enum class Kind { set, add, subtract } kind = Kind::set;
};

// Connects the statement's entity along a step with the entity whose key is `value`, or disconnects the two.
struct Connection {
  Step step;
  Operand value;
  bool disconnect = false;
};

enum class StatementKind { select, insert, update, remove };

// One `name=value` as written. The read_* functions below parse the value and its unit.
struct Option {
  std::string name, value;
  uint32_t line = 0, column = 0;
};
using Options = std::vector<Option>;
const Option* find_option(const Options& options, std::string_view name);

// A statement over entities. The graph's root is the entity that it reads or changes.
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

// Statements that run together, with one weight per mix.
struct Group {
  std::string name;
  bool write = false;
  std::vector<std::pair<std::string, double>> weights;  // weights in the mixes, in the order of the file
  uint32_t line = 0;
};

// A mix derived from another mix: the weights of write groups are multiplied by `write`, the other weights
// are the same.
struct Mix {
  std::string name, of;
  double write = 1;
  uint32_t line = 0;
};

// A table over a graph, as declared by `@layout`. Used for comparison and as a candidate.
struct Layout {
  std::string schema, name;
  Graph graph;
  std::vector<FieldReference> partition, clustering, values;
  std::vector<bool> descending;  // per clustering field
  double buckets = 1;            // number of hash buckets per partition key
  // Partitions may also be split by time. Each then holds the rows of one period.
  struct Period {
    FieldReference field;  // a clustering field
    double seconds = 0;
    double count = 1;  // number of periods kept at the horizon
    double share = 1;  // the share of a key's rows in one period
    double rows = 1;   // rows of a median key in one period
  };
  std::optional<Period> period;
  // A table of one large value in chunks: `chunk` is the last column of its key.
  bool is_chunked = false;
  uint32_t line = 0;
};

// The reads with which a stated schema answers a group or a statement, from `@plan`.
struct StatedRead {
  size_t layout = 0;
  std::vector<FieldReference> equal;  // fields compared by =, other than the partition key
  bool range = false;
  std::optional<double> limit;
};
struct StatedWrite {
  size_t layout = 0;
  bool remove = false;
};
// Look-ups, followed by writes of every row that they found. A look-up is a chain of reads, each of which
// starts from the results of the previous one.
struct StatedUnit {
  std::vector<std::vector<StatedRead>> lookups;
  std::vector<StatedWrite> writes;
};
struct StatedPlan {
  std::string schema, name;
  std::vector<StatedUnit> units;
  uint32_t line = 0;
};

// A plain CQL statement of the file, with the `@query` or `@write` annotation before it.
struct CqlStatement {
  std::string text;
  uint32_t line = 1;
  std::string name, group;  // empty: not annotated
  bool write = false;
  Options options;
};

// Statistics of a table that the file creates, from `@table` and `@column`.
struct TableStatistics {
  std::string table, column;  // empty column: statistics of the table itself
  Options options;
  uint32_t line = 0;
};

struct Target {
  std::optional<double> partition_bytes, partition_rate, space_bytes;
  Options options;  // all options, including the three above
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

  // All mixes that a group or `@mix` names, in the order of the file.
  std::vector<std::string> mix_names() const;
  // Executions per unit of time in the mix. Without mixes: the statement's rate, or 1 if it has none.
  double weight(const std::string& group, const Options& options, const std::string& mix) const;
  double weight(const Statement& statement, const std::string& mix) const {
    return weight(statement.group, statement.options, mix);
  }
};

base::Result<Workload> parse_workload(std::string_view text, std::string_view file);
// Prints a file that parses to the same workload.
std::string print_workload(const Workload& workload);
std::string print_statement(const Model& model, const Statement& statement);

// Parse option values: numbers (2e5, 200k, 1M), sizes (100MB, 4KiB), durations in seconds (10ms, 3y), rates
// per second (160/s, 3/d) and zipf(0.9).
std::optional<double> read_number(std::string_view text);
std::optional<double> read_bytes(std::string_view text);
std::optional<double> read_seconds(std::string_view text);
std::optional<double> read_rate(std::string_view text);
std::optional<double> read_zipf(std::string_view text);
// The steps per second of an integer that grows with time: s, ms, us, ns or snowflake.
inline std::optional<double> ticks_of_time(std::string_view text) {
  if (text == "s") return 1;
  if (text == "ms" || text == "snowflake") return 1e3;
  if (text == "us") return 1e6;
  if (text == "ns") return 1e9;
  return std::nullopt;
}

// The candidate with the most similar spelling, or an empty string if none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sibyl::advisor
