// Intervals of clustering bytes, and sorted lists of them.
#pragma once

#include <optional>
#include <vector>

#include "base/bytes.h"

namespace sibyl::plan {

// A half-open interval of clustering bytes (record_key.h). Without an end it extends to the end of the
// partition.
struct Interval {
  base::Bytes begin;
  std::optional<base::Bytes> end;
};

// Returns what both lists contain. REQUIRES: each list is sorted and disjoint, as coalesce() makes it.
std::vector<Interval> intersect(const std::vector<Interval>& left, const std::vector<Interval>& right);
// Sorts the intervals, removes empty ones and joins intervals that touch.
void coalesce(std::vector<Interval>& intervals);

}  // namespace sibyl::plan
