// What a review knows: tables with their statistics, statements with their plans. Internal to the review.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "advisor/review.h"
#include "plan/explain.h"

namespace sibyl::advisor {

// That of files that name none.
inline constexpr const char* default_keyspace = "advise";

struct ColumnFacts {
  std::optional<double> distinct, size, growth;
  std::optional<double> elements, most_elements;  // of a collection: on average, and the most
  Origin distinct_origin = Origin::declared;
  double skew = 0;
  // Names a stretch of time: as part of a partition key its old values are never written again.
  bool is_period = false;
};

// How the rows of one key come.
enum class Arrival { random, regular };

// A table of the files with its statistics. Unknown stays unknown: nothing is made up to have a number.
struct TableFacts {
  schema::TablePtr table;
  std::string name, file;  // the name as the reader of the report knows it
  uint32_t line = 0;
  std::map<std::string, ColumnFacts> columns;
  Origin origin = Origin::declared;

  std::optional<double> rows, partitions, growth, retention;  // growth: rows per second
  Origin growth_origin = Origin::declared;
  bool growth_is_declared = false;      // a growth of 0, too: then there is none
  std::optional<double> most_rows;      // that the key can tell apart
  std::optional<Arrival> arrival;       // none: nobody says
  std::optional<double> p50, p99, max;  // rows of a partition, declared or measured
  std::optional<double> p90;            // measured
  double row_bytes = 0;
  double skew = 0;                     // of partition sizes, and of requests where their own is not known
  std::optional<double> request_skew;  // measured
  double reads = 0, writes = 0;
  Origin rate_origin = Origin::declared;
  // Measured, where a database was observed.
  std::optional<double> observed_seconds;
  std::optional<Sizes> partition_bytes;           // those of p50, p99 and max
  std::optional<double> read_share, write_share;  // of the hottest partitions
  std::string read_key, write_key;
  std::optional<double> tombstones_p99, tombstones_max;  // met by one read

  const ColumnFacts& column(const schema::Column& column) const;
  bool has_period() const;  // in its partition key
  // Seconds of one partition, where a period is part of the key and known.
  std::optional<double> period_width() const;
  // Values of the partition key, periods left out: those that are written to at one time.
  std::optional<double> keys() const;
  // How unevenly rows fall on them.
  double key_skew() const;
  // Rows of a partition on average and by quantile; nullopt: not known.
  struct Rows {
    double mean = 0, p50 = 0, p99 = 0, max = 0;
  };
  std::optional<Rows> rows_per_partition() const;
  // The same after `seconds` more.
  std::optional<Rows> rows_per_partition_after(double seconds) const;
  double rows_after(double seconds) const;
  // How far growth can be foretold: seconds, without end where it was declared.
  double farthest() const;
  // The share of writes that the hottest partition gets; 0: not known.
  double hottest_share() const;
  Sizes bytes_of(const Rows& rows) const;

 private:
  std::optional<double> partitions_after(double seconds) const;
  // How unevenly rows fall on keys: by Zipf over `values`, and evenly over `others` for each of them.
  struct Unevenness {
    double exponent = 0, values = 1, others = 1;
  };
  Unevenness unevenness(double partitions) const;
  Rows distribute(double rows, double partitions) const;
  double modelled_share() const;
};

struct StatementFacts {
  std::string name, group, file, text;
  std::string keyspace;  // the session's
  uint32_t line = 0;
  std::shared_ptr<const cql::Statement> tree;
  std::optional<base::Error> error;  // why it cannot be planned
  // Its plan; of a SELECT that needs ALLOW FILTERING and does not say so: the plan if it did.
  plan::Explanation explanation;
  double rate = 0, times = 1, skew = -1;   // skew < 0: the table's
  std::optional<double> rows, partitions;  // declared; partitions also measured
  std::optional<double> slo_p50, slo_p99;  // seconds
  // Seconds: it runs once for each period of its table that a stretch of time so long touches.
  std::optional<double> span;
  Origin origin = Origin::declared;  // of the rate and the partitions
  std::optional<ObservedShape> observed;

  const cql::Select* select() const { return std::get_if<cql::Select>(&tree->node); }
  bool is_write() const { return select() == nullptr; }
};

// A CREATE TABLE with counters beside other columns: no database takes it.
struct MixedTable {
  std::shared_ptr<const cql::Statement> tree;
  std::string file;
  uint32_t line = 0;
};

// A definition that stands.
struct Definition {
  std::string text, keyspace;  // the session's
  std::shared_ptr<const cql::Statement> tree;
};

struct ReviewModel {
  ReviewTarget target;
  CostModel cost;
  std::vector<Definition> definitions;  // in their order
  std::vector<TableFacts> tables;
  std::vector<StatementFacts> statements;
  std::vector<MixedTable> mixed;
  std::vector<std::string> internal_errors;

  const TableFacts* find(const schema::Table& table) const;
};

// Bytes of a row as it is stored, with its share of what its partition stores once: by the types and what is
// known of the sizes of values.
double estimated_row_bytes(const TableFacts& facts);

base::Result<ReviewModel> read_review_model(const std::vector<Workload>& workloads,
                                            const ReviewOptions& options);

// What statements do to a table in a second.
struct TableRates {
  double reads = 0, writes = 0, inserts = 0;
  double rows_removed = 0, partitions_removed = 0;
  bool removes_ranges = false;  // deletes so many rows that nobody can say
  bool makes_keys = false;      // inserts rows whose key is made up: uuid(), now()

  // `use`: the index-th of the statement.
  void add(const cql::Statement& statement, size_t index, const plan::Explanation::TableUse& use,
           double rate);
};

// By the name as it is written, else as CQL reads names without quotes; nullptr: there is none.
TableFacts* find_table(ReviewModel& model, const std::string& written);
// What files declare of tables and columns. `observed`: beside what a database has measured.
base::Status take_statistics(const std::vector<Workload>& workloads, bool observed, ReviewModel& model);
// What follows from all that is declared, measured and planned. `rates`: by the table's name.
void conclude(const std::map<std::string, TableRates>& rates, ReviewModel& model);

// What a database has observed. `seconds`: how long statements on the table have been counted.
void take_observed(const ObservedTable& observed, TableFacts& facts);
void take_observed(const ObservedShape& observed, std::optional<double> seconds, StatementFacts& facts);
// A name for a statement that has none: by_city, all, insert.
std::string shape_name(const cql::Statement& statement);

// The rules, each adding what it finds.
void review_statement(const ReviewModel& model, const StatementFacts& statement, Review& review);
void review_group(const ReviewModel& model, const std::string& group, Review& review);
void review_table(const ReviewModel& model, const TableFacts& table, Review& review);
void review_key(const ReviewModel& model, const TableFacts& table, Review& review);
void review_mixed(const MixedTable& mixed, Review& review);
void review_queue(const ReviewModel& model, const TableFacts& table, Review& review);

Finding begin_finding(const TableFacts& table, Verdict verdict, Severity severity, std::string message);
// REQUIRES: the table's growth is known.
Evidence growth_evidence(const TableFacts& table);

// 12, 3.4k, 2M; 100 MB; 4 days; 160/s.
std::string count_text(double count);
std::string size_text(double bytes);
std::string duration_text(double seconds);
std::string rate_text(double per_second);

std::vector<ColumnReview> review_columns(const schema::Table& table);

bool is_time(const schema::Column& column);  // timestamp, date or timeuuid

}  // namespace sibyl::advisor
