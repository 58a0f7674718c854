// The distribution of values in few bytes: buckets whose width grows with the value, sixteen per power of
// two.
//
// Values below 32 are exact, larger ones are within 1/32 (3.2%), and the maximum is exact. merge() gives the
// sketch of all values together, in any order and grouping. Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace sibyl::base {

class QuantileSketch {
 public:
  static constexpr double relative_error = 1.0 / 32;

  void add(uint64_t value, uint64_t times = 1) {
    const size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    counts_[bucket] += times;
    count_ += times;
    max_ = std::max(max_, value);
  }

  void merge(const QuantileSketch& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
  }

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }

  // The smallest value that is not exceeded by at least `share` (0 to 1) of all values, within the error; 0
  // if there are none.
  uint64_t quantile(double share) const {
    if (count_ == 0) return 0;
    const double exact = share * static_cast<double>(count_);
    auto wanted = static_cast<uint64_t>(exact);
    if (static_cast<double>(wanted) < exact) ++wanted;
    wanted = std::clamp<uint64_t>(wanted, 1, count_);
    if (wanted == count_) return max_;
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= wanted) return std::min(middle_of(i), max_);
    }
    return max_;
  }

  void append_to(Bytes& out) const {
    append_varint(out, max_);
    size_t used = 0;
    for (const uint64_t count : counts_) used += count != 0 ? 1 : 0;
    append_varint(out, used);
    size_t next = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      append_varint(out, i - next);
      append_varint(out, counts_[i]);
      next = i + 1;
    }
  }
  // Returns false if the bytes are not a sketch.
  bool read_from(Reader& in) {
    *this = {};
    uint64_t used = 0;
    if (!in.varint(max_) || !in.varint(used) || used > buckets) return false;
    uint64_t bucket = 0;
    for (uint64_t i = 0; i < used; ++i, ++bucket) {
      uint64_t gap = 0, count = 0;
      if (!in.varint(gap) || !in.varint(count) || gap >= buckets || bucket + gap >= buckets) return false;
      bucket += gap;
      counts_.resize(bucket + 1);
      counts_[bucket] = count;
      count_ += count;
    }
    return true;
  }

  bool operator==(const QuantileSketch& other) const = default;

 private:
  static constexpr size_t exact_values = 32;
  static constexpr size_t buckets = exact_values + 59 * 16;

  static size_t bucket_of(uint64_t value) {
    if (value < exact_values) return static_cast<size_t>(value);
    const auto power = static_cast<size_t>(std::bit_width(value)) - 1;  // at least 5
    return exact_values + (power - 5) * 16 + static_cast<size_t>((value >> (power - 4)) & 15);
  }
  static uint64_t middle_of(size_t bucket) {
    if (bucket < exact_values) return bucket;
    const size_t power = (bucket - exact_values) / 16 + 5;
    const uint64_t width = uint64_t{1} << (power - 4);
    return (16 + (bucket - exact_values) % 16) * width + width / 2;
  }

  std::vector<uint64_t> counts_;  // the last element is not zero
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace sibyl::base
