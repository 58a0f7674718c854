// A latency histogram with log-linear buckets. Quantiles have an error below one percent for values up to
// five hours.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace sibyl::cli::bench {

class Histogram {
 public:
  void add(uint64_t value) {
    ++counts_[bucket_of(value)];
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
      if (seen > wanted || (seen == count_ && seen > 0)) return std::min(upper_bound_of(i), largest_);
    }
    return 0;
  }

 private:
  static constexpr unsigned fraction_bits = 7;
  // Values of 2^44 ns (five hours) and more share the last bucket.
  static constexpr unsigned largest_exponent = 44;
  static constexpr size_t fraction_count = size_t{1} << fraction_bits;

  static size_t bucket_of(uint64_t value) {
    value = std::min(value, (uint64_t{1} << largest_exponent) - 1);
    if (value < fraction_count) return static_cast<size_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - fraction_bits - 1;
    return (static_cast<size_t>(shift + 1) << fraction_bits) + static_cast<size_t>(value >> shift) -
           fraction_count;
  }
  static uint64_t upper_bound_of(size_t bucket) {
    if (bucket < fraction_count) return bucket;
    const size_t shift = (bucket >> fraction_bits) - 1;
    return (((bucket & (fraction_count - 1)) + fraction_count + 1) << shift) - 1;
  }

  std::array<uint64_t, (largest_exponent - fraction_bits + 1) << fraction_bits> counts_{};
  uint64_t count_ = 0;
  uint64_t largest_ = 0;
};

}  // namespace sibyl::cli::bench
