// The cost model: the cost of reads and writes, and the number of rows that a read returns. The defaults are
// the constants and rules of the NoSE advisor. They are milliseconds on one 7200 rpm disk, so only ratios are
// meaningful. fit_constants() in trial/measurement.h fits them to another machine. All functions are pure.
#pragma once

#include <optional>
#include <vector>

#include "advisor/workload/workload.h"

namespace sibyl::advisor {

struct CostModel {
  double lookup = 0.0078395645;      // per read request
  double partition = 0.0013692786;   // per partition read
  double row = 1.17093638386496e-5;  // per row read
  // Per partition that a scan passes. It is cheaper than a look-up because the next partition is adjacent.
  // NoSE has no scans; the ratio was measured on Sibyl.
  double scanned = 0.0013692786 / 16;
  // Per tombstone that a read skips. NoSE does not count tombstones; the ratio was measured on Sibyl.
  double tombstone = 1.17093638386496e-5 / 4;
  double insert = 0.013329108;   // per row written
  double remove = 0.0013287903;  // per row deleted
  // The cost of a sort by the client. It is high enough that a table in the right order is worth its
  // maintenance.
  double sort = 1;
  double range_selectivity = 0.1;  // the fraction of rows that a range keeps if nothing else is known
  // True if an update of a key column need not look up the old value first, as NoSE assumes.
  bool old_keys_are_known = false;

  double read(double partitions, double rows) const { return lookup + partition * partitions + row * rows; }
};

// Number of rows of a table, from the declared counts.
double layout_rows(const Model& model, const Layout& layout);
// Bytes as NoSE counts them: the sum of the field sizes. Used to compare with its published results.
double layout_row_bytes(const Model& model, const Layout& layout);
double layout_bytes(const Model& model, const Layout& layout);
// Bytes as the engine stores them, with record keys and cell lengths.
double layout_stored_row_bytes(const Model& model, const Layout& layout);
double layout_stored_bytes(const Model& model, const Layout& layout);
// Rows per partition key, over all its buckets: of a mean key, and of the most frequent key.
double rows_per_key(const Model& model, const Layout& layout);
double rows_of_largest_key(const Model& model, const Layout& layout);
// Rows of the largest partition if rows are distributed over keys and buckets at random.
double rows_of_largest_partition(const Model& model, const Layout& layout);
// The share of requests for the most frequent partition key.
double hottest_share(const Model& model, const Layout& layout);

// The partition field with the most uneven value distribution, if any, and the share of its most frequent
// value.
std::optional<FieldReference> hottest_field(const Model& model, const Layout& layout);
double value_share(const Model& model, const Layout& layout, FieldReference field);

// True if the partition key contains a hash bucket column.
bool needs_bucket(const Layout& layout);
bool contains(const std::vector<FieldReference>& fields, FieldReference field);
bool in_key(const Layout& layout, FieldReference field);
bool in_layout(const Layout& layout, FieldReference field);

// --- Stated schemas: the cost of `@plan` plans exactly as written.

struct StatedReadCost {
  double partitions = 1, rows = 1, cost = 0;
};
StatedReadCost evaluate_read(const CostModel& cost, const Model& model, const Layout& layout,
                             const StatedRead& read, double partitions);
double evaluate_plan(const CostModel& cost, const Workload& workload, const StatedPlan& plan);

struct StatedTotal {
  double queries = 0, updates = 0;
  double total() const { return queries + updates; }
};
// The weighted cost of all plans of a schema. A plan that writes counts as an update.
StatedTotal evaluate_stated(const CostModel& cost, const Workload& workload, const std::string& schema,
                            const std::string& mix);

}  // namespace sibyl::advisor
