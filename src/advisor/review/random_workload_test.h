// Random workloads of several shapes with known truth: keys of several uneven columns, static columns,
// collections, views, queries in two steps, periods read over a span, counters, rows that expire,
// deletes, coarse times, filters, and clustering columns that every statement gives. A simulation of
// their rows and requests determines what a review must report. It shares no arithmetic with the
// review.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/review/review.h"

namespace sibyl::advisor {

// A finding that must or must not be reported.
struct Expectation {
  std::string kind;  // name of the score in which it counts
  Verdict verdict = Verdict::ok;
  std::string table, query;
  std::optional<bool> fault;  // none: both answers are accepted
  std::string what;
};

// A number that must agree with the simulation.
struct ExpectedFigure {
  enum class Of {
    largest,
    median,
    partitions,
    partitions_p50,
    partitions_p99,
    rows_read,
    rows_returned,
    split_largest,     // largest partition of the table's chosen split
    split_partitions,  // partitions per read with the chosen split
  };
  std::string kind;
  Of of = Of::largest;
  std::string name;  // name of the table or query
  double truth = 0;
  double within = 0.35, slack = 0;  // relative, absolute
};

struct RandomWorkload {
  uint64_t seed = 0;
  std::string text;  // the workload file
  std::vector<Expectation> expectations;
  std::vector<ExpectedFigure> figures;

  // True if the simulation shows no fault, and nothing that is too close to call.
  bool is_good() const;
};

// The number of shapes. Workload n has shape n modulo this number.
inline constexpr uint64_t workload_shapes = 12;
RandomWorkload random_workload(uint64_t seed);

}  // namespace sibyl::advisor
