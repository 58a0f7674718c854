// Facts about a table whose partitions must be split, and the possible splits. Internal to
// src/advisor/review.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advisor/review/fix.h"

namespace sibyl::advisor {

inline constexpr double rounding = 1 + 1e-9;  // a split may exceed a target by this factor

// A read of the table, reduced to the properties that matter for a split.
struct SplitRead {
  enum class Want {
    row,          // one row, by its whole key
    moment,       // the rows of one point in time
    newest,       // a number of rows in time order, starting from now or from a given bound
    first,        // a number of rows from the start of the partition
    range,        // the rows in a range of time
    whole,        // all rows of a partition key
    without_key,  // no partition key given, so a split makes no difference
  };
  Want want = Want::whole;
  double rows = 0;                 // for newest and first: the number of rows wanted
  double arrival = 0;              // for newest: the arrival rate of the rows read, per second
  double keys = 1;                 // number of partition keys that it names
  double share = 0;                // share of the table's reads
  bool onward = false;             // for newest: the read goes from a given bound towards now
  bool plain = false;              // restricts nothing but the partition key
  bool reversed = false;           // reads against the clustering order
  std::vector<std::string> equal;  // columns compared by =

  bool is_of_partitions() const { return want != Want::row && want != Want::without_key; }
  bool names(const std::vector<std::string>& columns) const;
};

struct SplitSituation {
  const ReviewModel& model;
  const TableFacts& table;
  double more_bytes = 0;      // increase in row size due to other changes
  double rows = 0;            // rows of the largest partition at the horizon
  double bytes = 0;           // size of that partition without the split
  double rate = 0;            // writes per second to the hottest partition
  double key_growth = 0;      // new rows per second of a median key
  double busiest = 0;         // new rows per second of the busiest key
  double partitions = 1;      // partitions that are written at any one time
  double least = 1;           // minimum modulo of a hash prefix
  bool is_new = false;        // the table is an additional one, made for its reads
  std::string period;         // the key column that names a time period, if any
  double period_seconds = 0;  // length of the period in seconds
  std::vector<SplitRead> reads;

  bool wants(SplitRead::Want want) const;
  // bytes of a row after adding a hash column, a time column or both
  double row_bytes(bool hash, bool time) const;
  // Bytes that the added partition key columns need per row.
  double hash_bytes = 0, time_bytes = 0, both_bytes = 0;
};

SplitSituation situation_of(const ReviewModel& model, const TableFacts& table);
// Collects the reads of the table from the statements.
void find_reads(SplitSituation& situation);
// The read that a statement performs on the table that was made for it.
SplitRead read_of_own(const SplitSituation& situation, const StatementFacts& statement);

// Returns the number of partitions of the split table that a read needs.
using Taken = std::function<double(const SplitRead&)>;
// Cost per second of all reads and writes; none if the rates are unknown.
std::optional<double> cost_of(const SplitSituation& situation, const Taken& taken, double writes_each);
// Mean number of partitions per read. Reads of a single row and reads without a key are not counted.
double mean_of(const SplitSituation& situation, const Taken& taken);

// --- By a hash

// The columns that a hash prefix is computed from: one column that reads compare by =, if it has enough
// values, otherwise the whole clustering key. `values` is the number of distinct values in a partition.
struct HashBasis {
  std::vector<std::string> columns;
  double values = 1;
};
HashBasis basis_of(const SplitSituation& situation, double modulo);
double hash_partitions(const SplitRead& read, const HashBasis& basis, double modulo);
Choice hash_choice(const SplitSituation& situation, double modulo);
// The smallest modulo that meets the targets. If none does, the result does not meet them either.
double least_fitting_modulo(const SplitSituation& situation);

// The rows that reads take from the start of a partition. A second table can store only these rows.
struct FirstRows {
  double rows = 0;  // 0: there are no such reads, or they differ
  bool reversed = false;
};
FirstRows first_rows(const SplitSituation& situation);
std::optional<Choice> copy_choice(const SplitSituation& situation, double modulo);

// --- By time

struct TimeChoice {
  Choice choice;
  double width = 0, modulo = 1;
  bool bounded = false;  // the size target limits it to fewer rows than the reads want
  double all = 1;        // number of buckets that are kept
  double newest = 0;     // the largest number of rows that one read wants
  double expected = 1;   // mean number of buckets that this read needs
  double expected_p95 = 1;
};
// Returns choices of several widths, the narrowest first. A hash prefix is added if a partition would get too
// much in any period. Empty if rows have no time, if their arrival rate is unknown, or if the number of rows
// is not the problem.
std::vector<TimeChoice> time_choices(const SplitSituation& situation);
// The number of buckets, including hash prefixes, that a read needs.
double time_partitions(const SplitSituation& situation, const TimeChoice& time, const SplitRead& read);

// --- Without added columns

// Splits only by columns that every statement compares with =. Nullopt if no such split meets the targets.
std::optional<Split> split_by_given(const ReviewModel& model, const TableFacts& table, double least);

}  // namespace sibyl::advisor
