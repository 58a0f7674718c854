// Counts of values in buckets whose width grows with the value.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sibyl::base {

// 2^fraction_bits buckets for each power of two: values of one bucket differ by less than 1 / 2^fraction_bits
// of the smallest. Values from 2^end_exponent on are in the last bucket.
template <unsigned fraction_bits, unsigned end_exponent>
struct LogLinearBuckets {
  static constexpr size_t per_power = size_t{1} << fraction_bits;
  static constexpr size_t count = (end_exponent - fraction_bits + 1) << fraction_bits;

  static constexpr size_t of(uint64_t value) {
    if (value < per_power) return static_cast<size_t>(value);
    const size_t shift = static_cast<size_t>(std::bit_width(value)) - 1 - fraction_bits;
    return std::min(shift * per_power + static_cast<size_t>(value >> shift), count - 1);
  }
  // The largest value that falls into `bucket`.
  static constexpr uint64_t largest(size_t bucket) {
    if (bucket < per_power) return bucket;
    const size_t shift = bucket / per_power - 1;
    return ((uint64_t{per_power} + bucket % per_power + 1) << shift) - 1;
  }
};

// Percentiles are at most a quarter too large.
using HistogramBuckets = LogLinearBuckets<2, 35>;

// The contents of a histogram at one moment. add() sums several.
struct HistogramSnapshot {
  std::array<uint64_t, HistogramBuckets::count> counts{};
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t max = 0;

  void add(const HistogramSnapshot& other) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    count += other.count;
    sum += other.sum;
    max = std::max(max, other.max);
  }
  // The smallest value that is not exceeded by at least `share` (0 to 1) of all values; 0 if there are none.
  uint64_t percentile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count) + 0.5);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      seen += counts[i];
      if (seen > 0 && seen >= wanted) return std::min(HistogramBuckets::largest(i), max);
    }
    return max;
  }
  // The number of values that are at most `bound`, to the granularity of the buckets.
  uint64_t count_up_to(uint64_t bound) const {
    uint64_t seen = 0;
    for (size_t i = 0; i < counts.size() && HistogramBuckets::largest(i) <= bound; ++i) seen += counts[i];
    return seen;
  }
};

// A counter with one writer at a time and any number of readers. Counting needs no locked instruction.
class Counter {
 public:
  void add(uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// One thread at a time may record; any thread may take snapshots.
class Histogram {
 public:
  void record(uint64_t value) {
    buckets_[HistogramBuckets::of(value)].add();
    sum_.add(value);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  // The count is the sum of the buckets, so a snapshot is always consistent.
  HistogramSnapshot snapshot() const {
    HistogramSnapshot snapshot;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      snapshot.counts[i] = buckets_[i].value();
      snapshot.count += snapshot.counts[i];
    }
    snapshot.sum = sum_.value();
    snapshot.max = max_.load(std::memory_order_relaxed);
    return snapshot;
  }

 private:
  std::array<Counter, HistogramBuckets::count> buckets_;
  Counter sum_;
  std::atomic<uint64_t> max_{0};
};

}  // namespace sibyl::base
