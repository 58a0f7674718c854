// What is known of a table whose partitions are to be split, and the ways to do it. Internal to the review.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "advisor/review_fix.h"

namespace sibyl::advisor {

// What a read of the table asks for, as far as a split changes what it takes.
struct SplitRead {
  enum class Want {
    row,        // by its whole key
    moment,     // the rows of one moment
    newest,     // so many rows in the order of time, from a moment that it knows: now, or a bound of its own
    first,      // so many rows from the beginning of the partition
    range,      // of time
    whole,      // all of a key
    elsewhere,  // asks for no key, so that no split matters to it
  };
  Want want = Want::whole;
  double rows = 0;                 // newest, first: how many
  double arrival = 0;              // newest: of the rows that it looks at, per second
  double keys = 1;                 // that it names
  double share = 0;                // of the table's reads
  bool onward = false;             // newest: from a bound of its own towards now
  bool plain = false;              // compares no clustering column
  bool reversed = false;           // against the clustering order
  std::vector<std::string> equal;  // what it compares by =

  bool is_of_partitions() const { return want != Want::row && want != Want::elsewhere; }
  bool names(const std::vector<std::string>& columns) const;
};

struct SplitSituation {
  const ReviewModel& model;
  const TableFacts& table;
  double more_bytes = 0;      // of a row, by what else is to change
  double rows = 0;            // of the largest partition at the horizon
  double bytes = 0;           // of the same, as it is
  double rate = 0;            // writes per second to the hottest
  double key_growth = 0;      // rows per second of a middling key
  double busiest = 0;         // and of the busiest
  double partitions = 1;      // that are written at one time
  double least = 1;           // partitions of a hash prefix
  bool is_new = false;        // made for its reads
  std::string period;         // the column of its key that names a period of time, if one does, ...
  double period_seconds = 0;  // ... and how long that is
  std::vector<SplitRead> reads;

  bool wants(SplitRead::Want want) const;
  // Of a row with such columns.
  double row_bytes(bool hash, bool time) const;
  // Of a row, by a column in the partition key besides.
  double hash_bytes = 0, time_bytes = 0, both_bytes = 0;
};

SplitSituation situation_of(const ReviewModel& model, const TableFacts& table);
// The reads of the table, by the statements.
void find_reads(SplitSituation& situation);
// What a statement asks of a table that was made for it.
SplitRead read_of_own(const SplitSituation& situation, const StatementFacts& statement);

// The partitions that a read takes of a split.
using Taken = std::function<double(const SplitRead&)>;
// Work per second, each read at its own price; unknown when the rates are.
std::optional<double> cost_of(const SplitSituation& situation, const Taken& taken, double writes_each);
// The mean over reads of partitions, those of one row and those that ask for no key left out.
double mean_of(const SplitSituation& situation, const Taken& taken);

// --- By a hash

// What a hash prefix is made of: one column that reads compare by =, if it has values enough, or the whole
// clustering key; and how many values that has in a partition.
struct HashBasis {
  std::vector<std::string> columns;
  double values = 1;
};
HashBasis basis_of(const SplitSituation& situation, double modulo);
double hash_partitions(const SplitRead& read, const HashBasis& basis, double modulo);
Choice hash_choice(const SplitSituation& situation, double modulo);
// The least that meets the targets; where none does, one that does not.
double least_fitting_modulo(const SplitSituation& situation);

// The rows that reads take from the beginning of a partition, in a second table that holds no others.
struct FirstRows {
  double rows = 0;  // 0: no reads of the kind, or not of one kind
  bool reversed = false;
};
FirstRows first_rows(const SplitSituation& situation);
std::optional<Choice> copy_choice(const SplitSituation& situation, double modulo);

// --- By time

struct TimeChoice {
  Choice choice;
  double width = 0, modulo = 1;
  bool bounded = false;  // by the size target, below what reads want
  double all = 1;        // buckets that are kept
  double newest = 0;     // the most rows that some read wants
  double expected = 1;   // buckets of such a read, and in 95 of 100 cases
  double expected_p95 = 1;
};
// Several widths, narrowest first; with a hash prefix where one partition gets too much, however short its
// time. Empty: rows have no time, nobody knows how fast they come, or their number is not what is wrong.
std::vector<TimeChoice> time_choices(const SplitSituation& situation);
// Buckets, with their prefixes, that a read takes.
double time_partitions(const SplitSituation& situation, const TimeChoice& time, const SplitRead& read);

}  // namespace sibyl::advisor
