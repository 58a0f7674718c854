// The counts of usage.h for display: of one server, or summed over the servers of a cluster.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/statistics/usage.h"

namespace sibyl::engine {

struct UsageTotals {
  // Periods in which statements were counted: half-open intervals in microseconds, in order, that do not
  // touch. There is at least one.
  std::vector<std::pair<int64_t, int64_t>> counted;
  std::vector<Usage::Shape> shapes;
  std::map<uint32_t, TableCounts> tables;  // by storage id

  int64_t since_micros() const { return counted.front().first; }
  // The time after `since` in which at least one server counted statements.
  uint64_t counted_micros(int64_t since) const;
  // Adds the counts of another server.
  void add(const UsageTotals& other);
};

// The time from `since` to `now`, except the pauses.
std::vector<std::pair<int64_t, int64_t>> counted_intervals(int64_t since, int64_t now,
                                                           const std::vector<Usage::Pause>& pauses);
UsageTotals totals_of(const Usage& usage);

}  // namespace sibyl::engine
