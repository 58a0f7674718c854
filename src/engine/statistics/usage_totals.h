// The counts of usage.h, as they are shown: of one server, or added up over the servers of a cluster.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/statistics/usage.h"

namespace sibyl::engine {

struct UsageTotals {
  // When statements were counted: half-open intervals in microseconds, in order, that do not touch. Not empty.
  std::vector<std::pair<int64_t, int64_t>> counted;
  std::vector<Usage::Shape> shapes;
  std::map<uint32_t, TableCounts> tables;  // by storage id

  int64_t since_micros() const { return counted.front().first; }
  // How long statements were counted after `since`: by any server.
  uint64_t counted_micros(int64_t since) const;
  // Adds the counts of another server.
  void add(const UsageTotals& other);
};

// From `since` to `now` except the pauses.
std::vector<std::pair<int64_t, int64_t>> counted_intervals(int64_t since, int64_t now,
                                                           const std::vector<Usage::Pause>& pauses);
UsageTotals totals_of(const Usage& usage);

}  // namespace sibyl::engine
