#include "advisor/workload/joint.h"

#include <algorithm>
#include <cmath>

#include "advisor/workload/spread.h"

namespace sibyl::advisor {

JointShares::JointShares(const std::vector<UnevenValues>& columns) : groups_{{1, 1}} {
  for (const UnevenValues& column : columns) {
    const std::vector<Group> next = groups_of(column);
    std::vector<Group> product;
    product.reserve(groups_.size() * next.size());
    for (const Group& one : groups_)
      for (const Group& other : next) product.push_back({one.share * other.share, one.count * other.count});
    unite(product);
    groups_ = std::move(product);
    combinations_ *= std::max(1.0, column.values);
  }
}

// The first values are groups of their own. Later groups contain more and more neighbouring values.
std::vector<JointShares::Group> JointShares::groups_of(const UnevenValues& column) {
  const double values = std::max(1.0, std::round(column.values));
  if (column.exponent <= 0) return {{1 / values, values}};
  constexpr double exact = 24, growth = 1.3;
  const double total = zipf_sum(values, column.exponent);
  std::vector<Group> out;
  double before = 0, sum_before = 0;
  while (before < values) {
    const double until =
        before < exact ? before + 1 : std::min(values, std::max(before + 1, std::floor(before * growth)));
    const double sum = zipf_sum(until, column.exponent);
    out.push_back({(sum - sum_before) / (until - before) / total, until - before});
    before = until;
    sum_before = sum;
  }
  return out;
}

void JointShares::unite(std::vector<Group>& groups) {
  std::sort(groups.begin(), groups.end(),
            [](const Group& left, const Group& right) { return left.share > right.share; });
  constexpr double nearly = 1.02;
  constexpr size_t exact = 200;
  std::vector<Group> out;
  for (const Group& group : groups) {
    if (out.size() <= exact || out.back().share > group.share * nearly) {
      out.push_back(group);
      continue;
    }
    Group& last = out.back();
    const double count = last.count + group.count;
    last.share = (last.share * last.count + group.share * group.count) / count;
    last.count = count;
  }
  groups = std::move(out);
}

double JointShares::at(double rank) const {
  for (const Group& group : groups_) {
    if (rank < group.count) return group.share;
    rank -= group.count;
  }
  return groups_.back().share;
}

}  // namespace sibyl::advisor
