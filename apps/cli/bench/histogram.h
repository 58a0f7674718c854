// A latency histogram with log-linear buckets. Quantiles have an error below one percent for values up to
// five hours.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/histogram.h"

namespace sibyl::cli::bench {

class Histogram {
 public:
  void add(uint64_t value) {
    ++counts_[Buckets::of(value)];
    ++count_;
    largest_ = std::max(largest_, value);
  }
  void merge(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    largest_ = std::max(largest_, other.largest_);
  }
  uint64_t count() const { return count_; }
  uint64_t largest() const { return largest_; }

  // Returns the smallest value that at least `share` (0 to 1) of all values do not exceed; 0 if there are
  // none.
  uint64_t quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted || (seen == count_ && seen > 0)) return std::min(Buckets::largest(i), largest_);
    }
    return 0;
  }

 private:
  // Values of 2^44 ns (five hours) and more share the last bucket.
  using Buckets = base::LogLinearBuckets<7, 44>;

  std::array<uint64_t, Buckets::count> counts_{};
  uint64_t count_ = 0;
  uint64_t largest_ = 0;
};

}  // namespace sibyl::cli::bench
