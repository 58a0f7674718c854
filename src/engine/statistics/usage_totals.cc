#include "engine/statistics/usage_totals.h"

#include <algorithm>
#include <unordered_map>

namespace sibyl::engine {
namespace {

using Intervals = std::vector<std::pair<int64_t, int64_t>>;

// Sorts the intervals, and joins intervals that touch.
void join(Intervals& intervals) {
  std::ranges::sort(intervals);
  Intervals joined;
  for (const auto& [begin, end] : intervals) {
    if (!joined.empty() && begin <= joined.back().second)
      joined.back().second = std::max(joined.back().second, end);
    else
      joined.emplace_back(begin, end);
  }
  intervals = std::move(joined);
}

}  // namespace

Intervals counted_intervals(int64_t since, int64_t now, const std::vector<Usage::Pause>& pauses) {
  Intervals intervals;
  int64_t begin = since;
  for (const Usage::Pause& pause : pauses) {
    if (pause.begin_micros > begin) intervals.emplace_back(begin, pause.begin_micros);
    begin = std::max(begin, pause.end_micros);
  }
  intervals.emplace_back(begin, std::max(begin, now));
  return intervals;
}

UsageTotals totals_of(const Usage& usage) {
  return {counted_intervals(usage.since_micros(), usage.now_micros(), usage.pauses()), usage.shapes(),
          usage.tables()};
}

uint64_t UsageTotals::counted_micros(int64_t since) const {
  int64_t micros = 0;
  for (const auto& [begin, end] : counted) micros += std::max<int64_t>(0, end - std::max(begin, since));
  return static_cast<uint64_t>(micros);
}

void UsageTotals::add(const UsageTotals& other) {
  counted.insert(counted.end(), other.counted.begin(), other.counted.end());
  join(counted);
  for (const auto& [id, counts] : other.tables) tables[id].merge(counts);
  std::unordered_map<uint64_t, size_t> known;  // places of shapes
  for (size_t i = 0; i < shapes.size(); ++i) known.emplace(shapes[i].name.id, i);
  for (const Usage::Shape& shape : other.shapes) {
    const auto [found, is_new] = known.emplace(shape.name.id, shapes.size());
    if (is_new)
      shapes.push_back(shape);
    else
      shapes[found->second].counts.merge(shape.counts);
  }
}

}  // namespace sibyl::engine
