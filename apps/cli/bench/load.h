// Generates load on a CQL server: prepared statements over many connections, each with a window of requests
// in flight.
//
// Every thread drives its own connections with epoll. It reads all available responses, counts them, and
// sends the requests that replace them in one write, so that the generator costs less CPU than the servers
// that it measures.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench/histogram.h"
#include "client/connection.h"

namespace sibyl::cli::bench {

// A statement and its values. A value is a number of 8 or 4 bytes, or row_bytes bytes.
struct Operation {
  enum class Value : uint8_t { key, partition, position, bytes };
  std::string text;
  std::vector<Value> values;
  bool reads = false;
};

struct Load {
  client::Options server;
  std::vector<Operation> operations;  // each is chosen at random, by its weight
  std::vector<double> weights;
  unsigned threads = 1;
  unsigned connections = 8;
  unsigned in_flight = 64;  // on all connections together
  uint64_t keys = 1'000'000;
  uint64_t rows_per_partition = 1000;
  uint64_t slice_rows = 100;
  size_t row_bytes = 100;
  uint64_t operation_count = 0;          // 0: the load ends when the duration has passed
  std::chrono::nanoseconds duration{0};  // 0: the load ends when operation_count is reached
  bool sequential = false;               // uses keys in order instead of at random, to load a table
  uint64_t seed = 1;
};

struct LoadResult {
  uint64_t operations = 0;  // completed without an error
  uint64_t errors = 0;
  uint64_t rows = 0;         // rows read
  uint64_t empty_reads = 0;  // reads that returned no rows
  std::map<std::string, uint64_t> error_texts;
  double seconds = 0;
  Histogram latencies;  // nanoseconds
};

// Called about once a second with the time since the start, and the completed operations and errors so far.
using Progress = std::function<void(double seconds, uint64_t operations, uint64_t errors)>;
base::Result<LoadResult> run_load(const Load& load, const Progress& progress);

}  // namespace sibyl::cli::bench
