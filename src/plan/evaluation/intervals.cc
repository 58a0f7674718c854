#include "plan/evaluation/intervals.h"

#include <algorithm>

namespace sibyl::plan {

using base::Bytes;

void coalesce(std::vector<Interval>& intervals) {
  std::erase_if(intervals, [](const Interval& one) { return one.end && *one.end <= one.begin; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& left, const Interval& right) { return left.begin < right.begin; });
  std::vector<Interval> joined;
  for (Interval& next : intervals) {
    if (joined.empty() || (joined.back().end && *joined.back().end < next.begin)) {
      joined.push_back(std::move(next));
      continue;
    }
    std::optional<Bytes>& end = joined.back().end;
    if (end && (!next.end || *next.end > *end)) end = std::move(next.end);
  }
  intervals = std::move(joined);
}

std::vector<Interval> intersect(const std::vector<Interval>& left, const std::vector<Interval>& right) {
  std::vector<Interval> both;
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    const Interval &a = left[i], &b = right[j];
    const Bytes& begin = std::max(a.begin, b.begin);
    const bool a_ends_first = a.end && (!b.end || *a.end < *b.end);
    const std::optional<Bytes>& end = a_ends_first ? a.end : b.end;
    if (!end || begin < *end) both.push_back({begin, end});
    ++(a_ends_first ? i : j);
  }
  return both;
}

}  // namespace sibyl::plan
