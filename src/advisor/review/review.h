// Reviews a data model. A review proves a bound on the partitions that each query reads, estimates each
// table's partition sizes and spread over nodes, and lists findings. Each finding has evidence, a fix as CQL
// where possible, and the cost of the fix.
//
//   auto workload = parse_workload(text, "shop.cql");
//   auto review = review_workloads({*workload}, {});
//
// Pure: no I/O, no clock, no randomness. The same files give the same review.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/workload/cost.h"
#include "advisor/workload/observation.h"
#include "advisor/workload/spread.h"
#include "advisor/workload/workload.h"

namespace sibyl::advisor {

enum class Severity { note, warning, error };
const char* to_string(Severity severity);
std::optional<Severity> severity_by_name(std::string_view name);

enum class Verdict {
  full_scan,
  allow_filtering,
  multi_partition,
  partition_growth,
  hot_partition,
  low_cardinality,
  too_unique,
  order_mismatch,
  key_collision,
  tombstone_scan,
  index_cardinality,
  counter_mix,
  large_cell,
  unsupported_query,
  latency_goal,
  unknown_size,
  aggregate_scan,
  ok,
};
const char* to_string(Verdict verdict);  // FULL_SCAN, ...
std::optional<Verdict> verdict_by_name(std::string_view name);

// The source of a number: declared in a file, estimated by the advisor, or measured by a database.
enum class Origin { declared, estimated, measured };
const char* to_string(Origin origin);

struct Evidence {
  std::string text;
  Origin origin = Origin::estimated;
};

// One way to resolve a finding, in numbers.
struct Choice {
  std::string name;            // "time bucket of 4 days", "hash prefix modulo 4"
  double partitions = 1;       // expected number of partitions that one request reads
  double partitions_p95 = 1;   // 95th percentile
  double largest_bytes = 0;    // size of the largest partition afterwards
  double hottest_rate = 0;     // writes per second to the hottest partition afterwards
  bool fits = true;            // true if it meets the targets
  std::optional<double> cost;  // cost model's cost of all reads and writes per second; none: unknown rates
  bool chosen = false;         // true if the fix implements this choice
  double modulo = 0;           // modulo of a hash prefix; 0: none
  double width = 0;            // width of a time bucket in seconds; 0: none
  bool second_table = false;   // adds a second table for reads
};

struct Proposal;

// The kind of change that a fix asks for.
enum class FixKind {
  advice,         // a change of the application or of a statement
  new_table,      // `cql` defines tables
  existing_table  // the statement should read a table that exists
};

struct Finding {
  Verdict verdict = Verdict::ok;
  Severity severity = Severity::note;
  std::string table;  // empty if the finding is about a group
  std::string query;  // name of a statement or group; empty if the finding is about the table
  std::string file;
  uint32_t line = 0;
  std::string message;
  std::vector<Evidence> evidence;
  std::string fix;   // in plain words
  std::string cql;   // the fix as CQL for the reviewed keyspace; may be empty
  std::string cost;  // what the fix costs
  FixKind fix_kind = FixKind::advice;
  std::string caution;  // what must be known before the fix is applied; appended to `fix` at the end
  // The table that `cql` replaces; empty if it adds a table. If one replacement table resolves several
  // findings, the first of them has it.
  std::string replaces;
  std::shared_ptr<const Proposal> proposal;  // the source of `cql`; internal to the review
  std::vector<Choice> choices;
  std::optional<std::string> accepted;  // the reason given in the baseline

  // The identifier in a baseline: CODE TABLE/QUERY.
  std::string id() const;
  // FILE:LINE, or the database in which it was found.
  std::string place() const;
};

struct QueryReview {
  std::string name, group, table, file;
  std::vector<std::string> tables;  // all tables that it uses; several for a batch
  std::string text;
  uint32_t line = 0;
  bool write = false;
  bool supported = true;
  // The maximum number of partitions read, proved by the plan: "1", "3", "n", "all", "≤ all" (with a LIMIT).
  std::string bound;
  bool exact = false;                // the bound is reached, whatever the data
  std::string formula;               // derivation of the bound: "IN of 3", "3 x 4"; may be empty
  std::optional<double> partitions;  // expected number, if known
  // For a statement whose values another statement supplies, the median and the 99th percentile of
  // `partitions`.
  std::optional<double> partitions_p50, partitions_p99;
  std::optional<double> rows_read, rows_returned;
  // Rows read for each row returned, at least 1; none: unknown, or a write.
  std::optional<double> rows_per_row() const;
  double rate = 0;   // per second; 0: unknown
  double times = 1;  // executions per execution of its group
  Origin origin = Origin::declared;
  // The statement was seen too rarely to be part of the workload, or belongs to a tool (shell, COPY). It
  // causes no findings.
  bool ad_hoc = false;
  // Only for statements that a database has observed.
  std::optional<double> calls, partitions_max;     // partitions_max: the maximum of a single call
  std::optional<double> latency_p50, latency_p99;  // seconds
  std::optional<double> goal_p50, goal_p99;        // upper limits that the file sets
};

// Statements that run together.
struct GroupReview {
  std::string name;
  std::optional<double> partitions;  // partitions that one execution of the group reads
  size_t queries = 0;
};

struct Sizes {
  double p50 = 0, p99 = 0, max = 0;  // bytes per partition
};

// Partition sizes `seconds` from now.
struct GrowthPoint {
  double seconds = 0;
  Sizes sizes;
};

// A column in the notation of Chebotko diagrams: `[list]`, `{set}`, `<map>`, `(tuple)`, `*user type*`. The
// marks are K, C↑, C↓, S, IDX and ++ (counter), separated by spaces.
struct ColumnReview {
  std::string name, type, notation, marks;
};

struct TableReview {
  std::string name;
  std::string view_of;  // base table of a materialized view
  std::vector<ColumnReview> columns;
  std::optional<double> rows, partitions, bytes;
  double row_bytes = 0;
  std::vector<Evidence> inputs;  // the numbers from which the sizes follow
  std::optional<Sizes> now, horizon;
  double horizon_seconds = 0;       // length of the prediction; limited by the observed period
  std::vector<GrowthPoint> growth;  // evenly spaced from now to the horizon; empty: unknown
  // Days until the largest partition reaches the target; none: not within the horizon.
  std::optional<double> days_to_target;
  std::optional<Spread> spread, spread_doubled;  // spread over the current nodes, and over twice as many
  double reads = 0, writes = 0;                  // per second
  double hottest_share = 0;                      // share of writes to the hottest partition key; 0: unknown
  std::string hottest_read, hottest_write;       // the hottest keys, if a database has observed them
  Origin origin = Origin::declared;
};

struct ReviewTarget {
  double partition_bytes = 100e6;
  double partition_rate = 1000;  // writes per second to one partition
  size_t nodes = 3;
  size_t replicas = 3;
  size_t vnodes = 16;
  double horizon = 365 * 86400.0;  // seconds
  std::optional<double> latency;   // seconds; p99 goal of statements without a goal of their own
  bool machines_assumed = true;    // true: `nodes` and `replicas` are defaults
};

struct Review {
  ReviewTarget target;
  std::vector<TableReview> tables;
  std::vector<QueryReview> queries;
  std::vector<GroupReview> groups;  // groups named in the file that have at least two queries
  std::vector<Finding> findings;    // worst first
  std::vector<std::string> unused_baseline;
  std::string source;                        // the observed database; empty: files only
  std::vector<std::string> internal_errors;  // inconsistencies that indicate a bug in Sibyl

  // The worst severity among findings that the baseline does not accept; none: no such findings.
  std::optional<Severity> worst() const;
  const TableReview* find_table(std::string_view name) const;
  const QueryReview* find_query(std::string_view name) const;
};

struct ReviewOptions {
  CostModel cost;
  // Schema, statistics and statements of an observed database. Declarations in files override them. A
  // statement of a file that was also observed keeps the file's name. Must outlive the call.
  const Observation* observation = nullptr;
};

// Reviews files together; each may use definitions of the files before it. Returns an error with FILE:LINE if
// a definition is invalid.
base::Result<Review> review_workloads(const std::vector<Workload>& workloads, const ReviewOptions& options);

// Applies a baseline: lines `CODE TABLE/QUERY: reason`; `#` starts a comment. Accepted findings no longer
// count. Lines that match no finding are reported.
base::Status apply_baseline(std::string_view text, std::string_view file, Review& review);

struct RenderOptions {
  bool colour = false;
  size_t width = 100;
};
std::string render_text(const Review& review, const RenderOptions& options);
std::string render_markdown(const Review& review);
// The JSON members are described in docs/advisor-json.md. If a measurement is given, the document contains
// the review and the measurement.
struct Measurement;
std::string render_json(const Review& review, const Measurement* measurement = nullptr);

}  // namespace sibyl::advisor
