// The input of the review rules: tables with statistics, and statements with plans. Internal to src/advisor.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "advisor/review/review.h"
#include "advisor/workload/joint.h"
#include "plan/explain/explain.h"

namespace sibyl::advisor {

// The keyspace of files that do not name one.
inline constexpr const char* default_keyspace = "advise";

struct ColumnFacts {
  std::optional<double> distinct, size, growth;
  std::optional<double> elements, max_elements;  // mean and maximum number of elements of a collection
  Origin distinct_origin = Origin::declared;
  double skew = 0;
  // For an integer that grows with time: its steps per second. The values of a snowflake are unique.
  std::optional<double> ticks;
  bool is_snowflake = false;
  bool growth_is_usual = false;  // `growth` follows from the column's type and name; it is not declared
  // True if the values are time periods. If the column is part of a partition key, partitions of old periods
  // are never written again.
  bool is_period = false;
};

// How the rows of one key arrive over time.
enum class Arrival { random, regular };

// A table with its statistics. Unknown statistics stay empty; the review never invents a number.
struct TableFacts {
  schema::TablePtr table;
  std::string name, file;  // name as shown in reports
  uint32_t line = 0;
  std::map<std::string, ColumnFacts> columns;
  Origin origin = Origin::declared;

  // Growth in rows per second, retention in seconds.
  std::optional<double> rows, partitions, growth, retention;
  bool rows_are_implied = false, partitions_are_implied = false;  // implied by p50, p99 and max
  Origin growth_origin = Origin::declared;
  bool growth_is_declared = false;            // true also for a declared growth of 0
  std::optional<double> max_rows;             // maximum number of distinct keys
  std::optional<double> possible_partitions;  // combinations of declared values, if there are more than
                                              // actual partitions
  std::optional<Arrival> arrival;             // none: not declared
  std::optional<double> p50, p99, max;        // rows per partition, declared or measured
  std::optional<double> p90;                  // measured
  double row_bytes = 0;
  bool row_is_declared = false;
  // Static columns: bytes that every partition has once, and their part of `row_bytes`.
  double static_bytes = 0, static_bytes_per_row = 0;
  // Zipf exponent of partition sizes, and of requests if `request_skew` is unknown.
  double skew = 0;
  std::optional<double> request_skew;  // measured
  double reads = 0, writes = 0;
  double inserts = 0;                     // rows per second according to the statements
  std::map<std::string, double> updates;  // UPDATEs of a column per second
  std::map<std::string, double> appends;  // elements added to a collection per second, if none is removed
  Origin rate_origin = Origin::declared;
  // Measured by an observed database.
  std::optional<double> observed_seconds;
  std::optional<Sizes> partition_bytes;           // sizes at p50, p99 and max
  std::optional<double> read_share, write_share;  // shares of the hottest partitions in reads and in writes
  std::string read_key, write_key;
  std::optional<double> tombstones_p99, tombstones_max;  // tombstones per read

  Origin rows_origin() const { return rows_are_implied ? Origin::estimated : origin; }
  Origin partitions_origin() const { return partitions_are_implied ? Origin::estimated : origin; }
  const ColumnFacts& column(const schema::Column& column) const;
  // True if values of the column grow with time: a timestamp, date or timeuuid, or an integer declared so.
  bool is_time(const schema::Column& column) const;
  // Values per second that the column can distinguish; infinite for unique values. REQUIRES: is_time().
  double ticks_per_second(const schema::Column& column) const;
  bool has_period() const;  // true if the partition key contains a period
  // Seconds covered by one partition, if the partition key contains a period of known width.
  std::optional<double> period_width() const;
  // Number of distinct partition keys without the period. Partitions of these keys are written at any one
  // time.
  std::optional<double> keys() const;
  // Zipf exponent of the distribution of rows over these keys.
  double key_skew() const;
  // Rows per partition: mean and quantiles. Empty if unknown.
  struct Rows {
    double mean = 0, p50 = 0, p99 = 0, max = 0;
  };
  std::optional<Rows> rows_per_partition() const;
  // The largest partition's share of the rows, if that partition is declared or measured separately.
  std::optional<double> dominant_share() const;
  // Rows per partition after `seconds`.
  std::optional<Rows> rows_per_partition_after(double seconds) const;
  double rows_after(double seconds) const;
  // The longest time in seconds for which growth can be predicted; infinite if growth is declared.
  double max_prediction_seconds() const;
  // The share of writes that the hottest partition receives; 0: unknown.
  double hottest_share() const;
  Sizes bytes_of(const Rows& rows) const;
  // The largest number of rows that the clustering key can distinguish in one partition; infinite if unknown.
  double capacity_of_partition() const;

 private:
  std::optional<double> partitions_after(double seconds) const;
  // How rows are distributed over keys that consist of two parts: the first part has `values` values with a
  // Zipf distribution, the second has `others` equally likely values.
  struct Unevenness {
    double exponent = 0, values = 1, others = 1;
  };
  Unevenness unevenness(double partitions) const;
  // The columns of the partition key without periods, if at least two of them are uneven; otherwise empty.
  std::vector<UnevenValues> uneven_columns() const;
  Rows distribute(double rows, double partitions) const;
  double modelled_share() const;
};

struct StatementFacts {
  std::string name, group, file, text;
  std::string keyspace;  // the session's keyspace
  uint32_t line = 0;
  std::shared_ptr<const cql::Statement> tree;
  std::optional<base::Error> error;  // the reason why it has no plan
  // The plan. For a SELECT that needs ALLOW FILTERING but lacks it, the plan with ALLOW FILTERING.
  plan::Explanation explanation;
  double rate = 0, times = 1, skew = -1;   // skew < 0: use the table's
  std::optional<double> rows, partitions;  // declared in the file; `partitions` may also be measured
  std::optional<double> slo_p50, slo_p99;  // seconds
  // The values of `IN ?` are the rows that another statement of the group returns.
  struct Supply {
    std::string statement;
    double mean = 0, p50 = 0, p99 = 0;
  };
  std::optional<Supply> supply;
  // Seconds. The statement runs once for each period of its table that an interval of this length touches.
  std::optional<double> span;
  Origin origin = Origin::declared;  // where `rate` and `partitions` come from
  std::optional<ObservedShape> observed;
  bool ad_hoc = false;  // see QueryReview

  const cql::Select* select() const { return std::get_if<cql::Select>(&tree->node); }
  bool is_write() const { return select() == nullptr; }
};

// A CREATE TABLE that mixes counters with other columns, which no database accepts.
struct MixedTable {
  std::shared_ptr<const cql::Statement> tree;
  std::string file;
  uint32_t line = 0;
};

// A definition that was accepted.
struct Definition {
  std::string text, keyspace;  // keyspace: the session's
  std::shared_ptr<const cql::Statement> tree;
};

struct ReviewModel {
  double horizon_of(const TableFacts& table) const;  // seconds; limited by the observed period
  ReviewTarget target;
  CostModel cost;
  std::vector<Definition> definitions;  // definitions in the order of the files
  std::vector<TableFacts> tables;
  std::vector<StatementFacts> statements;
  std::vector<MixedTable> mixed;
  std::vector<std::string> internal_errors;

  const TableFacts* find(const schema::Table& table) const;
};

// The value, if it is greater than zero.
inline std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

// Stored bytes of a row, including its share of the data that is stored once per partition. Estimated from
// types and known value sizes.
double estimated_row_bytes(const TableFacts& facts);

base::Result<ReviewModel> read_review_model(const std::vector<Workload>& workloads,
                                            const ReviewOptions& options);

// Load of a table per second, summed over statements.
struct TableRates {
  double reads = 0, writes = 0, inserts = 0;
  std::map<std::string, double> updates;  // of each column
  std::map<std::string, double> appends;  // UPDATEs that add an element to a collection
  std::set<std::string> shrinks;          // collections that are overwritten, or lose elements
  double rows_removed = 0, partitions_removed = 0;
  bool removes_ranges = false;      // deletes ranges with an unknown number of rows
  bool makes_keys = false;          // inserts rows with generated keys: uuid(), now()
  std::optional<bool> loads_ended;  // all observed writes have ended, like loads; none: not observed

  // Adds one statement. `use` is the use of the table with this index in the statement.
  void add(const cql::Statement& statement, size_t index, const plan::Explanation::TableUse& use,
           double rate);
  void add(const cql::Assignment& assignment, double rate);
};

// True if a definition with this name mixes counters with other columns.
bool is_mixed(const ReviewModel& model, const std::string& written);
// Finds a table by the name as written, then by the lower-case name that CQL would use. Returns nullptr if
// there is none.
TableFacts* find_table(ReviewModel& model, const std::string& written);
// Reads the statistics of tables and columns that files declare. `observed`: the model also has measured
// statistics.
base::Status take_statistics(const std::vector<Workload>& workloads, bool observed, ReviewModel& model);
// Derives further statistics from all declared, measured and planned ones. The keys of `rates` are table
// names.
void derive_statistics(const std::map<std::string, TableRates>& rates, ReviewModel& model);

// Copies observed statistics. `seconds`: how long statements on the table have been counted.
void take_observed(const ObservedTable& observed, TableFacts& facts);
void take_observed(const ObservedShape& observed, std::optional<double> seconds, StatementFacts& facts);
// Makes a name for an unnamed statement: by_city, all, insert.
std::string shape_name(const cql::Statement& statement);

// The rules of the review. Each appends its findings.
void review_statement(const ReviewModel& model, const StatementFacts& statement, Review& review);
void review_group(const ReviewModel& model, const std::string& group, Review& review);
void review_table(const ReviewModel& model, const TableFacts& table, Review& review);
void review_key(const ReviewModel& model, const TableFacts& table, Review& review);
void review_mixed(const MixedTable& mixed, Review& review);
void review_queue(const ReviewModel& model, const TableFacts& table, Review& review);

Finding begin_finding(const TableFacts& table, Verdict verdict, Severity severity, std::string message);
// REQUIRES: the table's growth is known.
Evidence growth_evidence(const TableFacts& table);

// Numbers as text: 12, 3.4k, 2M; 100 MB; 4 days; 160/s.
std::string count_text(double count);
std::string count_of(double count, const char* one);  // 1 row, 2 rows
std::string size_text(double bytes);
std::string time_text(double seconds);
std::string duration_text(double seconds);
std::string rate_text(double per_second);
std::string cost_text(double cost);  // a cost of the cost model: 8,430; 41.4; 0.018

std::vector<ColumnReview> review_columns(const schema::Table& table);

bool is_time(const schema::Column& column);  // true for timestamp, date and timeuuid; see TableFacts::is_time

}  // namespace sibyl::advisor
