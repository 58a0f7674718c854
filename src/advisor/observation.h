// What a database knows of itself: its schema, the statistics that it keeps, the statements that it has run.
//
// Values only; whoever asks the database fills them in. What it does not know stays empty.
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
  // A partition with the least share of the requests that it surely got.
  struct HotPartition {
    std::string key;
    double share = 0;
  };

  std::string keyspace, name;
  std::optional<double> partitions, rows, bytes;
  Quantiles partition_rows, partition_bytes;
  Quantiles tombstones;           // met by one read
  double reads = 0, writes = 0;   // statements in `seconds`
  std::optional<double> seconds;  // how long they have been counted; none: not at all
  std::optional<HotPartition> hottest_read, hottest_write;
};

// A statement without its literals.
struct ObservedShape {
  std::string id;    // a hash of the text, for telling shapes apart
  std::string text;  // with ? for literals and qualified names
  std::string keyspace, table;
  double calls = 0;
  // In all calls together.
  double partitions_read = 0, rows_read = 0, rows_returned = 0, tombstones_read = 0;
  std::optional<double> partitions_max;            // by one call
  std::optional<double> latency_p50, latency_p99;  // seconds
  double since_first = 0, since_last = 0;          // seconds, since it was first and last seen
};

struct Observation {
  std::string source;                    // "127.0.0.1:9042", "the directory data"
  std::vector<std::string> definitions;  // statements that create the schema, in an order that works
  std::vector<ObservedTable> tables;
  std::vector<ObservedShape> shapes;
};

}  // namespace sibyl::advisor
