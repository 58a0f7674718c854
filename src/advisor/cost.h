// What reading and writing cost, and how many rows a read finds. The defaults are the constants and rules of
// the NoSE advisor (milliseconds on one 7200 rpm disk, so only ratios mean anything); another machine's are
// fitted by measuring. Everything here is a pure function.
#pragma once

#include <optional>
#include <vector>

#include "advisor/workload.h"

namespace sibyl::advisor {

struct CostModel {
  double lookup = 0.0078395645;      // each request that reads
  double partition = 0.0013692786;   // each partition it reads
  double row = 1.17093638386496e-5;  // each row it reads
  // Each partition that a scan passes: no look-up, the next one lies there. NoSE knows no scans; measured on
  // Sibyl it is this part of a look-up.
  double scanned = 0.0013692786 / 16;
  // Each deleted row that it walks over. NoSE knows none; measured on Sibyl it is this part of a row.
  double tombstone = 1.17093638386496e-5 / 4;
  double insert = 0.013329108;     // each row written
  double remove = 0.0013287903;    // each row deleted
  double sort = 1;                 // by the client: enough to make a table in order worth its upkeep
  double range_selectivity = 0.1;  // of what a range without further knowledge keeps
  // Whether a change of a key column must first look up the old value. NoSE takes it for known.
  bool old_keys_are_known = false;

  double read(double partitions, double rows) const { return lookup + partition * partitions + row * rows; }
};

// Sizes of a table, all from declared counts.
double layout_rows(const Model& model, const Layout& layout);
// As NoSE counts bytes, for comparisons with what it has published: the sums of the fields' sizes.
double layout_row_bytes(const Model& model, const Layout& layout);
double layout_bytes(const Model& model, const Layout& layout);
// As the engine stores them: each row's key with its record, its cells with their lengths.
double layout_stored_row_bytes(const Model& model, const Layout& layout);
double layout_stored_bytes(const Model& model, const Layout& layout);
// Rows behind one partition key (over all its buckets), on average and behind the commonest key.
double rows_per_key(const Model& model, const Layout& layout);
double rows_of_largest_key(const Model& model, const Layout& layout);
// Rows of the largest partition when they fall on keys and buckets by chance: some get more than their share.
double rows_of_largest_partition(const Model& model, const Layout& layout);
// The share of requests that the commonest partition key gets.
double hottest_share(const Model& model, const Layout& layout);

// The partition field whose values occur most unevenly, when one does; and the share of its commonest value.
std::optional<FieldReference> hottest_field(const Model& model, const Layout& layout);
double value_share(const Model& model, const Layout& layout, FieldReference field);

// Whether a column for the hash is part of the partition key.
bool needs_bucket(const Layout& layout);
bool contains(const std::vector<FieldReference>& fields, FieldReference field);
bool in_key(const Layout& layout, FieldReference field);
bool in_layout(const Layout& layout, FieldReference field);

// --- Given schemas: the cost of plans as they are stated, nothing added.

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
// All plans of a schema, weighted. A plan counts among the updates when it writes.
StatedTotal evaluate_stated(const CostModel& cost, const Workload& workload, const std::string& schema,
                            const std::string& mix);

}  // namespace sibyl::advisor
