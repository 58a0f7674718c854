// Load on a CQL server: prepared statements over many connections, each with a window of requests in flight.
//
// Every thread drives its own connections with epoll: it reads what came, counts the answers, and sends the
// requests that take their places in one write, so that the generator is cheaper than the servers it
// measures.
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
#include "client/connection.h"
#include "sibyl/histogram.h"

namespace sibyl::bench {

// A statement and its values. A value is 8 or 4 bytes of a number, or row bytes.
struct Operation {
  enum class Value : uint8_t { key, partition, position, bytes };
  std::string text;
  std::vector<Value> values;
  bool reads = false;
};

struct Load {
  client::Options server;
  std::vector<Operation> operations;  // picked at random by weight
  std::vector<double> weights;
  unsigned threads = 1;
  unsigned connections = 8;
  unsigned in_flight = 64;  // of all connections together
  uint64_t keys = 1'000'000;
  uint64_t rows_per_partition = 1000;
  uint64_t slice_rows = 100;
  size_t row_bytes = 100;
  uint64_t operation_count = 0;          // 0: until the time is up
  std::chrono::nanoseconds duration{0};  // 0: until all are done
  bool sequential = false;               // keys in turn instead of at random: to load a table
  uint64_t seed = 1;
};

struct LoadResult {
  uint64_t operations = 0;  // answered without an error
  uint64_t errors = 0;
  uint64_t rows = 0;         // read
  uint64_t empty_reads = 0;  // reads that found nothing
  std::map<std::string, uint64_t> error_texts;
  double seconds = 0;
  Histogram latencies;  // nanoseconds
};

// `progress` is called about once a second with the seconds since the start, operations answered and errors
// so far.
using Progress = std::function<void(double seconds, uint64_t operations, uint64_t errors)>;
base::Result<LoadResult> run_load(const Load& load, const Progress& progress);

}  // namespace sibyl::bench
