// The distribution of rows over the combinations of several independent columns, each of which may be uneven.
// Pure functions.
#pragma once

#include <vector>

namespace sibyl::advisor {

// A column with this many values. Rows follow a Zipf distribution over them; exponent 0: a uniform one.
struct UnevenValues {
  double values = 1, exponent = 0;
};

class JointShares {
 public:
  explicit JointShares(const std::vector<UnevenValues>& columns);

  // The share of all rows that have the combination with this rank. Rank 0 is the most frequent combination.
  // Ranks may be fractions.
  double at(double rank) const;
  double combinations() const { return combinations_; }

 private:
  // Combinations with about the same share.
  struct Group {
    double share = 0, count = 0;
  };
  static std::vector<Group> groups_of(const UnevenValues& column);
  // Sorts the groups, the largest share first, and joins groups whose shares are nearly equal.
  static void unite(std::vector<Group>& groups);

  std::vector<Group> groups_;
  double combinations_ = 1;
};

}  // namespace sibyl::advisor
