// Observations of a live database: its schema, its statistics and the statements that it has executed.
//
// Plain values, filled in by the caller that queries the database. Unknown values stay empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sibyl::advisor {

struct ObservedTable {
  struct Quantiles {
    std::optional<double> p50, p99, max;
    std::optional<double> p90;
  };
  // A partition, and the least share of the requests that it can have.
  struct HotPartition {
    std::string key;
    double share = 0;
  };

  std::string keyspace, name;
  std::optional<double> partitions, rows, bytes;
  Quantiles partition_rows, partition_bytes;
  Quantiles tombstones;          // per read
  double reads = 0, writes = 0;  // number of statements in `seconds`
  // The time for which statements have been counted; none: they are not counted.
  std::optional<double> seconds;
  std::optional<HotPartition> hottest_read, hottest_write;
};

// A statement without its literals.
struct ObservedShape {
  std::string id;    // a hash of the text; identifies the shape
  std::string text;  // with qualified names, and ? instead of literals
  std::string keyspace, table;
  double calls = 0;
  // Totals over all calls.
  double partitions_read = 0, rows_read = 0, rows_returned = 0, tombstones_read = 0;
  std::optional<double> partitions_max;            // the maximum of a single call
  std::optional<double> latency_p50, latency_p99;  // seconds
  double since_first = 0, since_last = 0;          // seconds since it was first and last seen
};

struct Observation {
  std::string source;                    // for example "127.0.0.1:9042" or "the directory data"
  std::vector<std::string> definitions;  // the CREATE statements of the schema, in an executable order
  std::vector<ObservedTable> tables;
  std::vector<ObservedShape> shapes;
  std::optional<size_t> nodes;  // none: unknown
};

}  // namespace sibyl::advisor
