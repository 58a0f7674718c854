// Whether a data model will hold: every query's proved bound on partitions read, every table's partition
// sizes and spread over nodes, and findings, each with evidence, a fix that can be pasted and what that
// costs.
//
//   auto workload = parse_workload(text, "shop.cql");
//   auto review = review_workloads({*workload}, {});
//
// Pure: no I/O, no clock, no chance; the same files give the same review.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/cost.h"
#include "advisor/observation.h"
#include "advisor/review_spread.h"
#include "advisor/workload.h"

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
  ok,
};
const char* to_string(Verdict verdict);  // FULL_SCAN, ...
std::optional<Verdict> verdict_by_name(std::string_view name);

// Where a number comes from: the file, our arithmetic, or the database.
enum class Origin { declared, estimated, measured };
const char* to_string(Origin origin);

struct Evidence {
  std::string text;
  Origin origin = Origin::estimated;
};

// One way to mend a finding, in numbers.
struct Choice {
  std::string name;            // "time bucket of 4 days", "hash prefix modulo 4"
  double partitions = 1;       // read by one request, expected
  double partitions_p95 = 1;   // and in 95 of 100
  double largest_bytes = 0;    // the largest partition then
  double hottest_rate = 0;     // writes per second to the hottest partition then
  bool fits = true;            // meets the targets
  std::optional<double> cost;  // of all reads and writes per second, by the cost model; none: unknown rates
  bool chosen = false;         // the one that the fix carries out
  double modulo = 0;           // of a hash prefix; 0: none
  double width = 0;            // of a time bucket, in seconds; 0: none
  bool second_table = false;   // for reads
};

struct Proposal;

struct Finding {
  Verdict verdict = Verdict::ok;
  Severity severity = Severity::note;
  std::string table;  // may be empty: about a group
  std::string query;  // a statement's or a group's name; empty: about the table
  std::string file;
  uint32_t line = 0;
  std::string message;
  std::vector<Evidence> evidence;
  std::string fix;   // in words
  std::string cql;   // the same to paste where the reviewed tables are; may be empty
  std::string cost;  // what the fix costs
  // The table whose place the one of `cql` takes; empty: it stands beside what there is. Findings of one
  // table that one new table mends have it in the first of them.
  std::string replaces;
  std::shared_ptr<const Proposal> proposal;  // what `cql` is made of; the review's own
  std::vector<Choice> choices;
  std::optional<std::string> accepted;  // the baseline's reason

  // CODE TABLE/QUERY, as a baseline names it.
  std::string id() const;
  // FILE:LINE, or the database that it was found in.
  std::string place() const;
};

struct QueryReview {
  std::string name, group, table, file;
  std::vector<std::string> tables;  // all that it uses: a batch's
  std::string text;
  uint32_t line = 0;
  bool write = false;
  bool supported = true;
  // Partitions that it reads at most, proved by its plan: "1", "3", "n", "all", "≤ all" (a LIMIT ends it).
  std::string bound;
  bool exact = false;                // and not fewer, whatever is stored
  std::string formula;               // how it comes about: "IN of 3", "3 x 4"; may be empty
  std::optional<double> partitions;  // expected, in numbers, when they are known
  std::optional<double> rows_read, rows_returned;
  double rate = 0;   // per second; 0: unknown
  double times = 1;  // each time its group runs
  Origin origin = Origin::declared;
  // Of a statement that a database has observed.
  std::optional<double> calls, partitions_max;     // partitions: the most that one call read
  std::optional<double> latency_p50, latency_p99;  // seconds
  std::optional<double> goal_p50, goal_p99;        // what the file wants these to be at most
};

// Statements that run together.
struct GroupReview {
  std::string name;
  std::optional<double> partitions;  // read in all
  size_t queries = 0;
};

struct Sizes {
  double p50 = 0, p99 = 0, max = 0;  // bytes of a partition
};

// Sizes `seconds` from now.
struct GrowthPoint {
  double seconds = 0;
  Sizes sizes;
};

// A column as Chebotko's diagrams write it: `[list]`, `{set}`, `<map>`, `(tuple)`, `*user type*`, with the
// marks K, C↑, C↓, S, IDX and ++ (counter), spaces between them.
struct ColumnReview {
  std::string name, type, notation, marks;
};

struct TableReview {
  std::string name;
  std::string view_of;  // the base table's name, of a materialized view
  std::vector<ColumnReview> columns;
  std::optional<double> rows, partitions, bytes;
  double row_bytes = 0;
  std::optional<Sizes> now, horizon;
  double horizon_seconds = 0;            // how far `horizon` lies ahead: no farther than what was seen tells
  std::vector<GrowthPoint> growth;       // from now to the horizon at even distances; empty: not known
  std::optional<double> days_to_target;  // until the largest partition reaches it; none: never within horizon
  std::optional<Spread> spread, spread_doubled;  // over the nodes of today, and over twice as many
  double reads = 0, writes = 0;                  // per second
  double hottest_share = 0;                      // of the writes on the hottest partition key; 0: unknown
  std::string hottest_read, hottest_write;       // those keys, where a database has observed them
  Origin origin = Origin::declared;
};

struct ReviewTarget {
  double partition_bytes = 100e6;
  double partition_rate = 1000;  // per second, to one partition
  size_t nodes = 3;
  size_t replicas = 3;
  size_t vnodes = 16;
  double horizon = 365 * 86400.0;  // seconds
  std::optional<double> latency;   // seconds, the p99 of every statement that has no goal of its own
};

struct Review {
  ReviewTarget target;
  std::vector<TableReview> tables;
  std::vector<QueryReview> queries;
  std::vector<GroupReview> groups;  // those that the file names, with two queries or more
  std::vector<Finding> findings;    // worst first
  std::vector<std::string> unused_baseline;
  std::string source;                        // the database that was observed; empty: files alone
  std::vector<std::string> internal_errors;  // what cannot be unless Sibyl is wrong: to be reported

  // Of findings that no baseline accepts; none: the model is good.
  std::optional<Severity> worst() const;
  const TableReview* find_table(std::string_view name) const;
  const QueryReview* find_query(std::string_view name) const;
};

struct ReviewOptions {
  CostModel cost;
  // Schema, statistics and statements of a database, beside which the files only declare: what they say wins,
  // and a statement of theirs that was observed is given its name. It must outlive the call.
  const Observation* observation = nullptr;
};

// Files that belong together: definitions of one may be used by the next. An error: a definition that cannot
// stand, with FILE:LINE.
base::Result<Review> review_workloads(const std::vector<Workload>& workloads, const ReviewOptions& options);

// Lines `CODE TABLE/QUERY: reason`; `#` begins a comment. Accepted findings no longer count; lines that fit
// no finding are told.
base::Status apply_baseline(std::string_view text, std::string_view file, Review& review);

struct RenderOptions {
  bool colour = false;
  size_t width = 100;
};
std::string render_text(const Review& review, const RenderOptions& options);
std::string render_markdown(const Review& review);
// docs/advisor-json.md has its members. With a measurement of it as one document.
struct Measurement;
std::string render_json(const Review& review, const Measurement* measurement = nullptr);

}  // namespace sibyl::advisor
